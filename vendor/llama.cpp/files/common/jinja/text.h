// Python's view of text: code points, letter case and white space. Texts are UTF-8; a byte that is none counts as a code point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jinja {

// the code point at a byte, and its length; counts no work
struct code_point {
    uint32_t value = 0;
    size_t   bytes = 1;
    bool     valid = true;
};
code_point code_point_at(std::string_view text, size_t at);
void put_code_point(std::string & out, uint32_t value);

// the number of code points; counts its work, as all below
size_t count_points(std::string_view text);
// where each code point begins, and the length of the text
std::vector<size_t> point_offsets(std::string_view text);

bool is_space(uint32_t point);
bool is_letter(uint32_t point);
bool is_digit(uint32_t point);
bool is_lower(uint32_t point);
bool is_upper(uint32_t point);
bool is_printable(uint32_t point);

enum class letter_case { lower, upper, title, capital, swap };
std::string with_case(std::string_view text, letter_case how);
// of a piece of a text; tells, and is told, whether a word begins with it, or the text
std::string with_case(std::string_view text, letter_case how, bool & begins);

// str.islower() and str.isupper(): some letter has the case, and none the other
bool all_lower(std::string_view text);
bool all_upper(std::string_view text);

// where the text begins and ends without white space, or without these characters
struct stripped {
    size_t begin;
    size_t end;
};
stripped strip(std::string_view text, bool left, bool right, const std::string * chars);

} // namespace jinja
