#include "llama/grammar/gbnf_text.h"

#include <algorithm>
#include <cstdint>

namespace llama_rt {

namespace {

/// Largest count of a repetition, and largest token id.
constexpr uint32_t kRepetitionMax = 1'000'000'000;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || is_digit(c);
}

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// All characters except these.
std::vector<CharRange> all_but(std::vector<CharRange> ranges) {
    std::ranges::sort(ranges, {}, &CharRange::first);
    std::vector<CharRange> rest;
    uint32_t next = 0;
    for (const CharRange& range : ranges) {
        if (range.first > next) rest.push_back({.first = next, .last = range.first - 1});
        next = std::max(next, range.last + 1);
    }
    if (next <= kCharMax) rest.push_back({.first = next, .last = kCharMax});
    return rest;
}

} // namespace

void GbnfText::fail(std::string what) {
    if (failed()) return;
    const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
    error_ = std::move(what) + " (line " + std::to_string(line) + ").";
}

bool GbnfText::take(char character) {
    if (failed() || at_end() || text_[at_] != character) return false;
    at_ += 1;
    return true;
}

void GbnfText::expect(std::string_view word) {
    if (failed()) return;
    if (text_.substr(at_, word.size()) != word) return fail(std::string(word) + " is missing");
    at_ += word.size();
}

void GbnfText::skip_space(bool over_lines) {
    while (!failed() && !at_end()) {
        const char c = peek();
        if (c == '#') {
            while (!at_end() && peek() != '\n' && peek() != '\r') at_ += 1;
        } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
            at_ += 1;
        } else {
            return;
        }
    }
}

void GbnfText::end_of_rule() {
    if (failed() || at_end() || take('\n')) return;
    if (!take('\r')) return fail("a rule must end at the end of a line");
    take('\n');
}

bool GbnfText::at_name() const {
    return !failed() && is_name_character(peek());
}

std::string_view GbnfText::name() {
    const size_t begin = at_;
    while (at_name()) at_ += 1;
    if (at_ == begin) fail("a rule's name is missing");
    return text_.substr(begin, at_ - begin);
}

uint32_t GbnfText::hexadecimal(int digits) {
    uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
        const int digit = hex_value(peek());
        if (digit < 0) {
            fail("an escape needs " + std::to_string(digits) + " hexadecimal digits");
            return 0;
        }
        value = value * 16 + static_cast<uint32_t>(digit);
        at_ += 1;
    }
    if (value > kCharMax) fail("an escape is beyond U+10FFFF");
    return std::min(value, kCharMax);
}

uint32_t GbnfText::character() {
    if (at_end()) fail("it ends inside a literal or a character class");
    if (failed()) return 0;
    if (take('\\')) {
        const char escape = peek();
        at_ += at_end() ? 0 : 1;
        switch (escape) {
            case 'x': return hexadecimal(2);
            case 'u': return hexadecimal(4);
            case 'U': return hexadecimal(8);
            case 't': return '\t';
            case 'r': return '\r';
            case 'n': return '\n';
            case '\\':
            case '"':
            case '[':
            case ']':
            case '-': return static_cast<unsigned char>(escape);
            default: fail("an escape is unknown"); return 0;
        }
    }
    // The text comes from a JavaScript string, so its UTF-8 is valid.
    const auto lead = static_cast<unsigned char>(peek());
    size_t length = 1;
    if (lead >= 0xF0) length = 4;
    else if (lead >= 0xE0) length = 3;
    else if (lead >= 0xC0) length = 2;
    uint32_t value = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<unsigned char>(peek(i)) & 0x3FU);
    at_ = std::min(at_ + length, text_.size());
    return std::min(value, kCharMax);
}

std::vector<CharRange> GbnfText::char_class() {
    const bool is_negated = take('^');
    std::vector<CharRange> ranges;
    while (!failed() && !take(']')) {
        const uint32_t first = character();
        uint32_t last = first;
        if (peek() == '-' && peek(1) != ']' && take('-')) last = character();
        if (last < first) fail("a character range is reversed");
        ranges.push_back({.first = first, .last = last});
    }
    return is_negated ? all_but(std::move(ranges)) : ranges;
}

GbnfText::TokenName GbnfText::token_name() {
    const size_t begin = at_;
    expect("<");
    if (take('[')) {
        const uint32_t id = number();
        expect("]>");
        return {.id = static_cast<base::Token>(id), .text = {}};
    }
    const size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) {
        fail("a token's \">\" is missing");
        return {.id = -1, .text = {}};
    }
    at_ = end + 1;
    return {.id = -1, .text = text_.substr(begin, at_ - begin)};
}

bool GbnfText::is_repetition() const {
    const char c = peek();
    return c == '*' || c == '+' || c == '?' || c == '{';
}

uint32_t GbnfText::number() {
    uint64_t value = 0;
    if (!is_digit(peek())) fail("a number is missing");
    for (; is_digit(peek()); ++at_)
        value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(peek() - '0'), kNoMax);
    if (value > kRepetitionMax) fail("a number is too large");
    return static_cast<uint32_t>(value);
}

std::pair<uint32_t, uint32_t> GbnfText::repetition() {
    if (take('*')) return {0, kNoMax};
    if (take('+')) return {1, kNoMax};
    if (take('?')) return {0, 1};
    expect("{");
    skip_space(true);
    const uint32_t min = number();
    uint32_t max = min;
    skip_space(true);
    if (take(',')) {
        skip_space(true);
        max = is_digit(peek()) ? number() : kNoMax;
        skip_space(true);
    }
    expect("}");
    if (max < min) fail("a repetition's maximum is less than its minimum");
    return {min, max};
}

} // namespace llama_rt
