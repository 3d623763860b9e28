#include "llama/kv_types.h"

#include "../src/llama-ext.h" // no public header has a model's devices
#include "llama/model.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ggml-backend.h"
#include "ggml-cpp.h"
#include "ggml.h"
#include "llama.h"

namespace llama_rt {

using base::Code;

namespace {

/// Three bits a value and a scale: vendor/llama.cpp/files has it.
constexpr const char* kThreeBits = "q3_kv";

constexpr std::array kNames = {"f32",  "f16",  "bf16", "q8_0",   "q5_1",
                               "q5_0", "q4_1", "q4_0", "iq4_nl", kThreeBits};

int type_named(const char* name) {
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const char* other = ggml_type_name(static_cast<ggml_type>(type));
        if (other != nullptr && std::strcmp(name, other) == 0) return type;
    }
    return -1;
}

std::string metadata(const llama_model* model, const std::string& key) {
    std::array<char, 128> text{};
    const int32_t length = llama_model_meta_val_str(model, key.c_str(), text.data(), text.size());
    return length < 0 ? std::string() : std::string(text.data());
}

/// Values of a key of one head.
int64_t head_size(const llama_model* model) {
    const std::string text =
        metadata(model, metadata(model, "general.architecture") + ".attention.key_length");
    int64_t size = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), size).ec == std::errc() && size > 0)
        return size;
    const int32_t heads = llama_model_n_head(model);
    return heads > 0 ? llama_model_n_embd(model) / heads : 0;
}

/// Whether a device stores keys and values of these types and attends to them. Nothing is allocated or computed.
bool computes(ggml_backend_dev_t device, ggml_type type_k, ggml_type type_v, int64_t size) {
    constexpr int64_t kCells = 256; // what kernels for short caches need at least
    const ggml_init_params params = {
        .mem_size = 16 * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true};
    const ggml_context_ptr context(ggml_init(params));
    ggml_context* raw = context.get();
    ggml_tensor* values = ggml_new_tensor_2d(raw, GGML_TYPE_F32, size, 1);
    ggml_tensor* cells = ggml_new_tensor_1d(raw, GGML_TYPE_I64, 1);
    ggml_tensor* queries = ggml_new_tensor_3d(raw, GGML_TYPE_F32, size, 1, 1);
    ggml_tensor* mask = ggml_new_tensor_3d(raw, GGML_TYPE_F16, kCells, 1, 1);
    ggml_tensor* keys = ggml_new_tensor_3d(raw, type_k, size, kCells, 1);
    ggml_tensor* weighed = ggml_new_tensor_3d(raw, type_v, size, kCells, 1);
    return ggml_backend_dev_supports_op(device, ggml_set_rows(raw, keys, values, cells)) &&
           ggml_backend_dev_supports_op(device, ggml_set_rows(raw, weighed, values, cells)) &&
           ggml_backend_dev_supports_op(device,
                                        ggml_flash_attn_ext(raw, queries, keys, weighed, mask, 1, 0, 0));
}

} // namespace

std::vector<std::string> kv_type_names() {
    std::vector<std::string> names;
    for (const char* name : kNames) {
        if (type_named(name) >= 0) names.emplace_back(name);
    }
    return names;
}

int kv_type_from_name(const std::string& name) {
    for (const char* known : kNames) {
        if (name == known) return type_named(known);
    }
    return -1;
}

base::Result<void> check_kv_types(const Model& model, const std::string& name_k, const std::string& name_v) {
    const int type_k = kv_type_from_name(name_k);
    const int type_v = kv_type_from_name(name_v);
    for (const auto& [type, name] : {std::pair(type_k, name_k), std::pair(type_v, name_v)}) {
        if (type < 0)
            return base::fail(Code::invalid_argument,
                              "\"" + name + "\" is no type that a KV cache can have.");
    }
    if (name_k != kThreeBits && name_v != kThreeBits) return {};
    const int64_t size = head_size(model.raw());
    if (size % 64 != 0) {
        return base::fail(
            Code::invalid_argument,
            "A KV cache of 3 bits needs heads of a multiple of 64 values, and this model's have " +
                std::to_string(size) + ". Use 4 or 8 bits.");
    }
    const int32_t devices = model.has_gpu_layers() ? llama_model_n_devices(model.raw()) : 0;
    for (int32_t i = 0; i < devices; ++i) {
        ggml_backend_dev_t device = llama_model_get_device(model.raw(), i);
        if (computes(device, static_cast<ggml_type>(type_k), static_cast<ggml_type>(type_v), size)) continue;
        return base::fail(
            Code::invalid_argument,
            "A KV cache of 3 bits runs on the processor and, keys and values together, on CUDA; " +
                std::string(ggml_backend_dev_name(device)) +
                " cannot compute it. Use 4 or 8 bits, or load no layers to the GPU.");
    }
    return {};
}

} // namespace llama_rt
