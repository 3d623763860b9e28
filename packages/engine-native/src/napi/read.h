// Converts JavaScript values to C++: an object by the rows of its struct (base/fields.h), anything else by its type.
// @ingle/engine has validated everything with zod; only types, and numbers that could corrupt memory, are checked again here.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/vision/vision.h"
#include "sampling/sampling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <napi.h>

namespace napi {

/// Each read() returns false if the value has the wrong type or is out of its range.
class Reader {
public:
    /// The innermost field that could not be read; null if there is none.
    const char* wrong() const { return wrong_; }

    bool read(const Napi::Value& value, bool& into, base::Rule<bool> = {}) {
        if (!value.IsBoolean()) return false;
        into = value.As<Napi::Boolean>().Value();
        return true;
    }

    template <std::integral T>
    bool read(const Napi::Value& value, T& into, base::Rule<T> rule = {}) {
        if constexpr (sizeof(T) == sizeof(uint64_t)) {
            std::array<uint8_t, sizeof(T)> bytes{};
            if (rule.as == base::As::bytes && read(value, bytes)) {
                into = std::bit_cast<T>(bytes);
                return true;
            }
        }
        if (!value.IsNumber() || rule.as != base::As::itself) return false;
        const double number = value.As<Napi::Number>().DoubleValue();
        constexpr double kSafeMax = 9007199254740991; // Number.MAX_SAFE_INTEGER
        const double max = std::min(static_cast<double>(rule.max), kSafeMax);
        if (!(number >= static_cast<double>(rule.min) && number <= max) || std::trunc(number) != number)
            return false;
        into = static_cast<T>(number);
        return true;
    }

    bool read(const Napi::Value& value, float& into, base::Rule<float> rule = {}) {
        if (!value.IsNumber()) return false;
        into = value.As<Napi::Number>().FloatValue();
        return into >= rule.min && into <= rule.max;
    }

    bool read(const Napi::Value& value, std::string& into, base::Rule<std::string> = {}) {
        if (!value.IsString()) return false;
        into = value.As<Napi::String>().Utf8Value();
        return true;
    }

    /// A Uint8Array of exactly this length.
    template <size_t size>
    bool read(const Napi::Value& value, std::array<uint8_t, size>& into,
              base::Rule<std::array<uint8_t, size>> = {}) {
        std::vector<uint8_t> bytes;
        if (!read(value, bytes, {.size_max = size}) || bytes.size() != size) return false;
        std::ranges::copy(bytes, into.begin());
        return true;
    }

    /// The bytes are copied: JavaScript may change or transfer its own meanwhile.
    bool read(const Napi::Value& value, std::vector<uint8_t>& into,
              base::Rule<std::vector<uint8_t>> rule = {}) {
        return read_numbers<Napi::Uint8Array>(value, napi_uint8_array, into, rule.size_max);
    }

    bool read(const Napi::Value& value, std::vector<int32_t>& into,
              base::Rule<std::vector<int32_t>> rule = {}) {
        return read_numbers<Napi::Int32Array>(value, napi_int32_array, into, rule.size_max);
    }

    /// Pairs of token id and bias, flat. The sampler drops ids outside the vocabulary.
    bool read(const Napi::Value& value, std::vector<sampling::LogitBias>& into,
              base::Rule<std::vector<sampling::LogitBias>> = {}) {
        std::vector<double> flat;
        if (!read_numbers<Napi::Float64Array>(value, napi_float64_array, flat)) return false;
        for (size_t i = 0; i + 1 < flat.size(); i += 2) {
            const bool is_id = flat[i] >= 0 && flat[i] <= std::numeric_limits<base::Token>::max();
            if (!is_id || std::isnan(flat[i + 1])) return false;
            into.push_back(
                {.token = static_cast<base::Token>(flat[i]), .bias = static_cast<float>(flat[i + 1])});
        }
        return true;
    }

    template <class T>
    bool read(const Napi::Value& value, std::vector<T>& into, base::Rule<std::vector<T>> = {}) {
        if (!value.IsArray()) return false;
        const auto array = value.As<Napi::Array>();
        for (uint32_t i = 0; i < array.Length(); ++i) {
            if (!read(array.Get(i), into.emplace_back())) return false;
        }
        return true;
    }

    template <class T>
    bool read(const Napi::Value& value, std::optional<T>& into, base::Rule<std::optional<T>> = {}) {
        return value.IsNull() || read(value, into.emplace());
    }

    /// The opaque value that write.h created for such a pointer.
    template <class T>
    bool read(const Napi::Value& value, std::shared_ptr<T>& into, base::Rule<std::shared_ptr<T>> rule = {}) {
        if (value.IsNull()) return rule.may_be_null;
        if (!value.IsExternal()) return false;
        into = *value.As<Napi::External<std::shared_ptr<T>>>().Data();
        return true;
    }

    bool read(const Napi::Value& value, llama::ImageParts& into, base::Rule<llama::ImageParts> = {}) {
        std::shared_ptr<const llama::ImageParts> held;
        if (!read(value, held, {.may_be_null = true})) return false;
        if (held != nullptr) into = *held;
        return true;
    }

    template <base::HasFields T>
    bool read(const Napi::Value& value, T& into, base::Rule<T> = {}) {
        if (!value.IsObject()) return false;
        const auto object = value.As<Napi::Object>();
        if (!base::for_each_field<T>([&](const auto& row) { return read_row(object, into, row); }))
            return false;
        // For rules that no row can express: relate() derives fields from others, and names one that contradicts another.
        if constexpr (requires { relate(into); }) note(relate(into));
        return wrong_ == nullptr;
    }

private:
    template <class Struct, class T>
    bool read_row(const Napi::Object& object, Struct& into, const base::Field<Struct, T>& row) {
        if (!read(object.Get(row.name), into.*row.member, row.rule)) note(row.name);
        return wrong_ == nullptr;
    }

    template <class Struct, class T, size_t count>
    bool read_row(const Napi::Object& object, Struct& into, const base::Choice<Struct, T, count>& row) {
        std::string name;
        read(object.Get(row.name), name);
        const auto value =
            std::ranges::find_if(row.values, [&](const auto& named) { return name == named.first; });
        if (value == row.values.end()) note(row.name);
        else into.*row.member = value->second;
        return wrong_ == nullptr;
    }

    template <class Struct, class T>
    bool read_row(const Napi::Object& object, Struct& into, const base::Inlined<Struct, T>& row) {
        return read(object, into.*row.member);
    }

    template <class Array, class Number>
    bool read_numbers(const Napi::Value& value, napi_typedarray_type type, std::vector<Number>& into,
                      size_t size_max = std::numeric_limits<size_t>::max()) {
        if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) return false;
        const auto array = value.As<Array>();
        if (array.ElementLength() > size_max) return false;
        into.assign(array.Data(), array.Data() + array.ElementLength());
        return true;
    }

    void note(const char* name) {
        if (wrong_ == nullptr) wrong_ = name;
    }

    const char* wrong_ = nullptr;
};

/// The value as a T, or `invalid_argument` with the name of what is wrong: a field, or the value itself.
template <class T>
base::Result<T> read(const Napi::Value& value, const char* name = "The argument") {
    T into{};
    Reader reader;
    if (reader.read(value, into)) return into;
    return base::fail(base::Code::invalid_argument, std::string(reader.wrong() ? reader.wrong() : name) +
                                                        " has the wrong type or is out of its range.");
}

} // namespace napi
