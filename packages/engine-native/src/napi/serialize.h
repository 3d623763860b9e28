// Serializes C++ values for v8.deserialize() in another process: a struct by its rows (base/fields.h), anything else by its type,
// each as write.h would create it. So a process can send results without involving its JavaScript.
//
// The format is V8's for structured clones, in version 13: V8 reads every older version, because browsers keep such bytes on disk.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace napi {

class Serializer {
public:
    /// Appends to `to`, which must stay alive.
    explicit Serializer(std::string& to) : to_(to) { to_ += "\xff\x0d"; }

    void write(bool value, base::Rule<bool> = {}) { to_ += value ? 'T' : 'F'; }

    template <class T>
        requires(std::integral<T> || std::floating_point<T>)
    void write(T value, base::Rule<T> rule = {}) {
        if constexpr (std::same_as<T, uint64_t>) {
            if (rule.as == base::As::bigint) {
                to_ += 'Z';
                write_varint(2 * sizeof(value)); // the lowest bit is the sign
                return write_memory(&value, sizeof(value));
            }
        }
        const auto number = static_cast<double>(value);
        to_ += 'N';
        write_memory(&number, sizeof(number));
    }

    void write(const std::string& text, base::Rule<std::string> rule = {}) {
        if (rule.as == base::As::bytes) write_numbers('B', text);
        else write_text('S', text);
    }

    void write(base::Code code, base::Rule<base::Code> = {}) { write_text('S', base::code_name(code)); }

    void write(const std::vector<int32_t>& numbers, base::Rule<std::vector<int32_t>> = {}) {
        write_numbers('d', numbers);
    }
    void write(const std::vector<uint64_t>& numbers, base::Rule<std::vector<uint64_t>> = {}) {
        write_numbers('Q', numbers);
    }
    void write(const std::vector<float>& numbers, base::Rule<std::vector<float>> = {}) {
        write_numbers('f', numbers);
    }

    template <class T>
    void write(const std::vector<T>& items, base::Rule<std::vector<T>> = {}) {
        to_ += 'A';
        write_varint(items.size());
        for (const T& item : items) write(item);
        to_ += '$';
        write_varint(0); // properties besides the items
        write_varint(items.size());
    }

    template <class T>
    void write(const std::optional<T>& value, base::Rule<std::optional<T>> = {}) {
        if (value) write(*value);
        else to_ += '0';
    }

    template <class... T>
    void write(const std::variant<T...>& value, base::Rule<std::variant<T...>> = {}) {
        std::visit([this](const auto& one) { write(one); }, value);
    }

    template <base::HasFields T>
    void write(const T& from, base::Rule<T> = {}) {
        to_ += 'o';
        size_t properties = 0;
        if constexpr (requires { T::kType; }) {
            write_text('"', "type");
            write_text('S', T::kType);
            properties += 1;
        }
        properties += write_fields(from);
        to_ += '{';
        write_varint(properties);
    }

private:
    /// Returns how many properties it wrote.
    template <base::HasFields T>
    size_t write_fields(const T& from) {
        size_t written = 0;
        base::for_each_field<T>([&](const auto& row) {
            written += write_row(from, row);
            return true;
        });
        return written;
    }

    template <class Struct, class T>
    size_t write_row(const Struct& from, const base::Field<Struct, T>& row) {
        const T& value = from.*row.member;
        if constexpr (requires { row.rule.is_left_out_if_empty; }) {
            if (row.rule.is_left_out_if_empty && value.empty()) return 0;
        }
        write_text('"', row.name);
        write(value, row.rule);
        return 1;
    }

    template <class Struct, class T, size_t count>
    size_t write_row(const Struct& from, const base::Choice<Struct, T, count>& row) {
        for (const auto& [name, value] : row.values) {
            if (value != from.*row.member) continue;
            write_text('"', row.name);
            write_text('S', name);
            return 1;
        }
        return 0;
    }

    template <class Struct, class T>
    size_t write_row(const Struct& from, const base::Inlined<Struct, T>& row) {
        return write_fields(from.*row.member);
    }

    /// A string, as ASCII ('"') or UTF-8 ('S').
    void write_text(char tag, std::string_view text) {
        to_ += tag;
        write_varint(text.size());
        to_ += text;
    }

    /// A typed array: its memory, and the view of that.
    template <class Numbers>
    void write_numbers(char type, const Numbers& numbers) {
        const size_t bytes = numbers.size() * sizeof(typename Numbers::value_type);
        to_ += 'B';
        write_varint(bytes);
        write_memory(numbers.data(), bytes);
        to_ += 'V';
        to_ += type;
        write_varint(0); // where the view begins
        write_varint(bytes);
    }

    /// Numbers are in the byte order of the machine.
    void write_memory(const void* data, size_t bytes) { to_.append(static_cast<const char*>(data), bytes); }

    void write_varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) to_ += static_cast<char>(value | 0x80);
        to_ += static_cast<char>(value);
    }

    std::string& to_;
};

} // namespace napi
