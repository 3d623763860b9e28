// Reads the members of a JavaScript object one by one. Used by convert_in.cpp and convert_chat.cpp.
#pragma once

#include "base/result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <napi.h>

namespace binding {

inline base::Error wrong(const std::string& name) {
    return {.code = base::Code::invalid_argument,
            .message = name + " has the wrong type or is out of its range."};
}

/// Reads the members of one object. After the first mistake it returns defaults and remembers the member's name.
class Reader {
public:
    explicit Reader(Napi::Value value) {
        if (value.IsObject()) object_ = value.As<Napi::Object>();
        else wrong_ = "The argument";
    }

    int32_t integer(const char* name, int32_t min, int32_t max) {
        const double number = real(name);
        if (!(number >= min && number <= max) || std::trunc(number) != number) return miss(name, min);
        return static_cast<int32_t>(number);
    }

    uint64_t count(const char* name) {
        const double number = real(name);
        constexpr double kSafeMax = 9007199254740991; // Number.MAX_SAFE_INTEGER
        if (!(number >= 0 && number <= kSafeMax) || std::trunc(number) != number)
            return miss(name, uint64_t{0});
        return static_cast<uint64_t>(number);
    }

    double real(const char* name) {
        const Napi::Value value = get(name);
        if (value.IsEmpty() || !value.IsNumber()) return miss(name, 0.0);
        return value.As<Napi::Number>().DoubleValue();
    }

    float finite(const char* name) {
        const double number = real(name);
        return std::isfinite(number) ? static_cast<float>(number) : miss(name, 0.0F);
    }

    bool boolean(const char* name) {
        const Napi::Value value = get(name);
        return !value.IsEmpty() && value.IsBoolean() ? value.As<Napi::Boolean>().Value() : miss(name, false);
    }

    std::string string(const char* name) {
        const Napi::Value value = get(name);
        return !value.IsEmpty() && value.IsString() ? value.As<Napi::String>().Utf8Value()
                                                    : miss(name, std::string());
    }

    /// A Uint8Array of just this length.
    template <size_t Size>
    std::array<uint8_t, Size> bytes(const char* name) {
        std::array<uint8_t, Size> bytes{};
        const Napi::Value value = get(name);
        if (value.IsEmpty() || !value.IsTypedArray()) return miss(name, bytes);
        const auto array = value.As<Napi::TypedArray>();
        if (array.TypedArrayType() != napi_uint8_array || array.ByteLength() != Size)
            return miss(name, bytes);
        std::copy_n(value.As<Napi::Uint8Array>().Data(), Size, bytes.begin());
        return bytes;
    }

    std::vector<std::string> strings(const char* name) {
        std::vector<std::string> strings;
        const Napi::Value value = get(name);
        if (value.IsEmpty() || !value.IsArray()) return miss(name, strings);
        const auto array = value.As<Napi::Array>();
        for (uint32_t i = 0; i < array.Length(); ++i) {
            const Napi::Value item = array.Get(i);
            if (!item.IsString()) return miss(name, strings);
            strings.push_back(item.As<Napi::String>().Utf8Value());
        }
        return strings;
    }

    /// Each item of an array of objects, by the function.
    template <class T, class Read>
    std::vector<T> list(const char* name, const Read& read) {
        std::vector<T> items;
        const Napi::Value value = get(name);
        if (value.IsEmpty() || !value.IsArray()) return miss(name, items);
        const auto array = value.As<Napi::Array>();
        for (uint32_t i = 0; i < array.Length(); ++i) {
            base::Result<T> item = read(array.Get(i));
            if (!item) return miss(name, std::vector<T>());
            items.push_back(std::move(*item));
        }
        return items;
    }

    Napi::Value get(const char* name) { return object_.IsEmpty() ? Napi::Value() : object_.Get(name); }

    template <class T>
    base::Result<T> done(T value) {
        if (wrong_.empty()) return value;
        return std::unexpected(wrong(wrong_));
    }

private:
    template <class T>
    T miss(const char* name, T fallback) {
        if (wrong_.empty()) wrong_ = name;
        return fallback;
    }

    Napi::Object object_;
    std::string wrong_;
};

} // namespace binding
