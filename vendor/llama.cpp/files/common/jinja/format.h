// What the two ways of formatting share.
#pragma once

#include "number.h"
#include "string.h"
#include "value.h"

#include <cstdint>
#include <string>

namespace jinja {

// what stands between % or : and the letter of the conversion
struct field_spec {
    string fill{" "};
    char align = 0; // < > ^ =, or 0
    char sign  = '-';
    bool is_alternate = false;
    char grouping = 0;
    int64_t width = 0;
    int64_t precision = -1;
    char kind = 0;
};

constexpr int64_t FORMAT_WIDTH_MAX = 1000000;

// digits at this place, which moves behind them
int64_t read_format_number(const std::string & text, size_t & at);
void put_aligned(text_out & out, const string & text, const field_spec & spec, char align, size_t sign_bytes);
void put_integer(text_out & out, const integer & number, const field_spec & spec);
void put_float(text_out & out, double number, const field_spec & spec);
// at most so many characters; all if negative
string cut_to(const string & text, int64_t precision);
string repr_of(const value & val, bool is_ascii);

} // namespace jinja
