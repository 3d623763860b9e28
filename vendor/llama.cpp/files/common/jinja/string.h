// Text of a template's values. Each part remembers whether it came from the conversation or from the template itself, and every
// operation keeps that: what a user wrote must not become control tokens.
#pragma once

#include "work.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jinja {

struct string_part {
    bool is_input = false; // from the conversation: its spellings of special tokens are text
    std::string val;
};

struct string {
    std::vector<string_part> parts; // neighbours differ in is_input, none is empty

    string() = default;
    explicit string(const std::string & text, bool is_input = false) { put(text, is_input); }

    // without counting work; see text_out for the counted way
    void put(std::string_view text, bool is_input);
    void mark_input();
    // marks all of this if any of other is input
    void mark_input_based_on(const string & other);

    std::string str() const;
    // in bytes
    size_t length() const;
    bool   empty() const { return parts.empty(); }
    bool   any_part_is_input() const;
    string & append(const string & other);
    // bytes [begin, end)
    string substr(size_t begin, size_t end = std::string::npos) const;
};

// builds a string; counts its work and memory
struct text_out {
    string text;

    text_out & put(std::string_view piece, bool is_input = false) {
        work_on(WORK_PART_UNITS + piece.size());
        memory.take(piece.size());
        text.put(piece, is_input);
        return *this;
    }
    text_out & put(const string & other) {
        for (const auto & part : other.parts) {
            put(part.val, part.is_input);
        }
        return *this;
    }

private:
    static constexpr uint64_t WORK_PART_UNITS = 8;
    work_memory memory;
};

} // namespace jinja
