#include "jinja/string.h"

#include <algorithm>

namespace jinja {

void string::put(std::string_view text, bool is_input) {
    if (text.empty()) {
        return;
    }
    if (parts.empty() || parts.back().is_input != is_input) {
        parts.push_back({is_input, std::string(text)});
    } else {
        parts.back().val += text;
    }
}

void string::mark_input() {
    if (!parts.empty()) {
        parts = {{true, str()}};
    }
}

void string::mark_input_based_on(const string & other) {
    if (other.any_part_is_input()) {
        mark_input();
    }
}

std::string string::str() const {
    work_on(8 * parts.size() + length());
    if (parts.size() == 1) {
        return parts[0].val;
    }
    std::string whole;
    whole.reserve(length());
    for (const auto & part : parts) {
        whole += part.val;
    }
    return whole;
}

size_t string::length() const {
    size_t bytes = 0;
    for (const auto & part : parts) {
        bytes += part.val.size();
    }
    return bytes;
}

bool string::any_part_is_input() const {
    return std::any_of(parts.begin(), parts.end(), [](const string_part & part) { return part.is_input; });
}

string & string::append(const string & other) {
    for (const auto & part : other.parts) {
        put(part.val, part.is_input);
    }
    return *this;
}

string string::substr(size_t begin, size_t end) const {
    string piece;
    size_t passed = 0;
    work_on(8 * parts.size());
    for (const auto & part : parts) {
        const size_t from = std::max(begin, passed);
        const size_t to   = std::min(end, passed + part.val.size());
        if (from < to) {
            work_on(to - from);
            piece.put(std::string_view(part.val).substr(from - passed, to - from), part.is_input);
        }
        passed += part.val.size();
    }
    return piece;
}

} // namespace jinja
