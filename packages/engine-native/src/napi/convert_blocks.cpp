// Reports of blocks of the KV cache to JS objects, with checked calls: the environment may be going away. Numbers go in arrays of
// numbers, however many there are.
#include "napi/convert.h"

#include <cstring>
#include <vector>

namespace binding {

namespace {

/// An array of its own memory; null when the environment is going away, as in all of these.
template <class Number>
napi_value write(napi_env env, napi_typedarray_type type, const std::vector<Number>& numbers) {
    void* data = nullptr;
    napi_value buffer = nullptr;
    napi_value array = nullptr;
    const size_t bytes = numbers.size() * sizeof(Number);
    if (napi_create_arraybuffer(env, bytes, &data, &buffer) != napi_ok) return nullptr;
    if (bytes > 0) std::memcpy(data, numbers.data(), bytes);
    const napi_status status = napi_create_typedarray(env, type, numbers.size(), buffer, 0, &array);
    return status == napi_ok ? array : nullptr;
}

bool set(napi_env env, napi_value object, const char* name, napi_value value) {
    return value != nullptr && napi_set_named_property(env, object, name, value) == napi_ok;
}

napi_value write(napi_env env, sched::KvMedium medium) {
    napi_value text = nullptr;
    const char* name = medium == sched::KvMedium::device ? "device" : "host";
    return napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &text) == napi_ok ? text : nullptr;
}

napi_value write(napi_env env, const sched::KvReport::Stored& stored) {
    napi_value object = nullptr;
    napi_value parent = nullptr;
    const bool is_made = napi_create_object(env, &object) == napi_ok &&
                         napi_create_bigint_uint64(env, stored.parent, &parent) == napi_ok &&
                         set(env, object, "medium", write(env, stored.medium)) &&
                         set(env, object, "parent", parent) &&
                         set(env, object, "hashes", write(env, napi_biguint64_array, stored.hashes)) &&
                         set(env, object, "tokens", write(env, napi_int32_array, stored.tokens));
    return is_made ? object : nullptr;
}

napi_value removed_from(napi_env env, sched::KvMedium medium, const sched::KvReport& report) {
    std::vector<uint64_t> hashes;
    for (const sched::KvReport::Removed& removed : report.removed) {
        if (removed.medium == medium) hashes.push_back(removed.hash);
    }
    return write(env, napi_biguint64_array, hashes);
}

} // namespace

napi_value from_blocks(napi_env env, const sched::KvReport& report) {
    napi_value object = nullptr;
    napi_value type = nullptr;
    napi_value is_restated = nullptr;
    napi_value removed = nullptr;
    napi_value stored = nullptr;
    bool is_made = napi_create_object(env, &object) == napi_ok &&
                   napi_create_object(env, &removed) == napi_ok &&
                   napi_create_string_utf8(env, "blocks", NAPI_AUTO_LENGTH, &type) == napi_ok &&
                   napi_get_boolean(env, report.is_restated, &is_restated) == napi_ok &&
                   napi_create_array_with_length(env, report.stored.size(), &stored) == napi_ok &&
                   set(env, removed, "device", removed_from(env, sched::KvMedium::device, report)) &&
                   set(env, removed, "host", removed_from(env, sched::KvMedium::host, report)) &&
                   set(env, object, "type", type) && set(env, object, "isRestated", is_restated) &&
                   set(env, object, "removed", removed) && set(env, object, "stored", stored);
    for (uint32_t i = 0; is_made && i < report.stored.size(); ++i) {
        napi_value one = write(env, report.stored[i]);
        is_made = one != nullptr && napi_set_element(env, stored, i, one) == napi_ok;
    }
    return is_made ? object : nullptr;
}

} // namespace binding
