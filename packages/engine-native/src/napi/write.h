// Converts C++ values to JavaScript: a struct by its rows (base/fields.h), anything else by its type. Allocates nothing but the
// JavaScript values, because every step writes events.
//
// Every call is checked: in an environment that is being torn down they fail, and the value is then null.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/vision/vision.h"

#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <napi.h>

namespace napi {

class Writer {
public:
    explicit Writer(napi_env env) : env_(env) {}

    napi_value write(bool value, base::Rule<bool> = {}) const {
        return made([&](napi_value* made) { return napi_get_boolean(env_, value, made); });
    }

    template <class T>
        requires(std::integral<T> || std::floating_point<T>)
    napi_value write(T value, base::Rule<T> rule = {}) const {
        return made([&](napi_value* made) {
            if constexpr (std::same_as<T, uint64_t>) {
                if (rule.as == base::As::bigint) return napi_create_bigint_uint64(env_, value, made);
            }
            return napi_create_double(env_, static_cast<double>(value), made);
        });
    }

    napi_value write(const char* text) const {
        return made(
            [&](napi_value* made) { return napi_create_string_utf8(env_, text, NAPI_AUTO_LENGTH, made); });
    }

    napi_value write(const std::string& text, base::Rule<std::string> rule = {}) const {
        if (rule.as == base::As::bytes) return write_numbers(napi_uint8_array, text);
        return made(
            [&](napi_value* made) { return napi_create_string_utf8(env_, text.data(), text.size(), made); });
    }

    napi_value write(base::Code code, base::Rule<base::Code> = {}) const {
        return write(base::code_name(code));
    }

    napi_value write(const std::vector<int32_t>& numbers, base::Rule<std::vector<int32_t>> = {}) const {
        return write_numbers(napi_int32_array, numbers);
    }
    napi_value write(const std::vector<uint64_t>& numbers, base::Rule<std::vector<uint64_t>> = {}) const {
        return write_numbers(napi_biguint64_array, numbers);
    }
    napi_value write(const std::vector<float>& numbers, base::Rule<std::vector<float>> = {}) const {
        return write_numbers(napi_float32_array, numbers);
    }

    template <class T>
    napi_value write(const std::vector<T>& items, base::Rule<std::vector<T>> = {}) const {
        napi_value array =
            made([&](napi_value* made) { return napi_create_array_with_length(env_, items.size(), made); });
        for (uint32_t i = 0; array != nullptr && i < items.size(); ++i) {
            napi_value item = write(items[i]);
            if (item == nullptr || napi_set_element(env_, array, i, item) != napi_ok) return nullptr;
        }
        return array;
    }

    template <class T>
    napi_value write(const std::optional<T>& value, base::Rule<std::optional<T>> = {}) const {
        return value ? write(*value) : null();
    }

    /// An opaque value, which JavaScript can only pass back to read.h.
    template <class T>
    napi_value write(const std::shared_ptr<T>& pointer, base::Rule<std::shared_ptr<T>> = {}) const {
        using Held = std::shared_ptr<T>;
        if (pointer == nullptr) return null();
        auto held = std::make_unique<Held>(pointer);
        const auto destroy = [](napi_env, void* data, void*) { delete static_cast<Held*>(data); };
        napi_value external = made(
            [&](napi_value* made) { return napi_create_external(env_, held.get(), destroy, nullptr, made); });
        if (external != nullptr) held.release(); // JavaScript owns it
        return external;
    }

    napi_value write(const llama::ImageParts& images, base::Rule<llama::ImageParts> = {}) const {
        if (images.empty()) return null();
        return write(std::make_shared<const llama::ImageParts>(images));
    }

    template <class... T>
    napi_value write(const std::variant<T...>& value, base::Rule<std::variant<T...>> = {}) const {
        return std::visit([this](const auto& one) { return write(one); }, value);
    }

    template <base::HasFields T>
    napi_value write(const T& from, base::Rule<T> = {}) const {
        napi_value to = object();
        if constexpr (requires { T::kType; }) {
            if (!set(to, "type", write(T::kType))) return nullptr;
        }
        return write_fields(to, from) ? to : nullptr;
    }

    /// An empty object. set() and write_fields() accept a failed one, and fail then.
    napi_value object() const {
        return made([&](napi_value* made) { return napi_create_object(env_, made); });
    }

    /// Adds the fields of `from` to an object. False if that failed.
    template <base::HasFields T>
    bool write_fields(napi_value object, const T& from) const {
        return base::for_each_field<T>([&](const auto& row) { return write_row(object, from, row); });
    }

    bool set(napi_value object, const char* name, napi_value value) const {
        return object != nullptr && value != nullptr &&
               napi_set_named_property(env_, object, name, value) == napi_ok;
    }

private:
    template <class Struct, class T>
    bool write_row(napi_value object, const Struct& from, const base::Field<Struct, T>& row) const {
        const T& value = from.*row.member;
        if constexpr (requires { row.rule.is_left_out_if_empty; }) {
            if (row.rule.is_left_out_if_empty && value.empty()) return true;
        }
        return set(object, row.name, write(value, row.rule));
    }

    template <class Struct, class T, size_t count>
    bool write_row(napi_value object, const Struct& from, const base::Choice<Struct, T, count>& row) const {
        for (const auto& [name, value] : row.values) {
            if (value == from.*row.member) return set(object, row.name, write(name));
        }
        return false;
    }

    template <class Struct, class T>
    bool write_row(napi_value object, const Struct& from, const base::Inlined<Struct, T>& row) const {
        return write_fields(object, from.*row.member);
    }

    /// A typed array with its own memory.
    template <class Numbers>
    napi_value write_numbers(napi_typedarray_type type, const Numbers& numbers) const {
        void* data = nullptr;
        const size_t bytes = numbers.size() * sizeof(typename Numbers::value_type);
        napi_value buffer =
            made([&](napi_value* made) { return napi_create_arraybuffer(env_, bytes, &data, made); });
        if (buffer == nullptr) return nullptr;
        if (bytes > 0) std::memcpy(data, numbers.data(), bytes);
        return made([&](napi_value* made) {
            return napi_create_typedarray(env_, type, numbers.size(), buffer, 0, made);
        });
    }

    napi_value null() const {
        return made([&](napi_value* made) { return napi_get_null(env_, made); });
    }

    static napi_value made(const auto& make) {
        napi_value value = nullptr;
        return make(&value) == napi_ok ? value : nullptr;
    }

    napi_env env_;
};

/// The value in JavaScript; empty if the environment is being torn down.
inline constexpr auto to_js = [](Napi::Env env, const auto& value) -> Napi::Value {
    return {env, Writer(env).write(value)};
};

} // namespace napi
