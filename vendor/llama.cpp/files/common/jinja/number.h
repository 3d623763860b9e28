// Python's numbers: integers of any size, and floats that are written with the fewest digits that give the same value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jinja {

// Python writes integers of at most 4,300 digits as text
constexpr size_t INTEGER_DIGITS_MAX = 4300;

class integer {
public:
    integer(int64_t value = 0) : small(value) {}
    static integer from_unsigned(uint64_t value);
    // digits with an optional sign; throws if there are too many digits
    static integer from_digits(std::string_view digits);
    // towards zero; throws for infinity and NaN
    static integer from_double(double value);

    bool fits() const { return limbs.empty(); }
    // the value, or the nearest that fits
    int64_t clamped() const { return fits() ? small : negative ? INT64_MIN : INT64_MAX; }
    int     sign() const { return fits() ? (small > 0) - (small < 0) : negative ? -1 : 1; }
    std::string str() const;
    // digits in base 2, 8 or 16, without a sign
    std::string str(int base) const;
    double to_double() const;

    int compare(const integer & other) const;

    integer operator-() const;
    integer operator+(const integer & other) const;
    integer operator-(const integer & other) const { return *this + -other; }
    integer operator*(const integer & other) const;
    // rounds down; throws for zero
    integer divided_by(const integer & other, integer & remainder) const;
    integer power(uint64_t exponent) const;

private:
    int64_t small;               // if limbs is empty
    bool    negative = false;    // if it is not
    std::vector<uint32_t> limbs; // in base 1e9, the lowest first

    std::vector<uint32_t> magnitude() const;
    static integer normal(std::vector<uint32_t> limbs, bool negative);
};

// repr(float)
std::string float_text(double value);
// Python's float() of a text; false if it is none
bool parse_float(std::string_view text, double & value);
// Python's int() of a text; false if it is none
bool parse_integer(std::string_view text, int base, integer & value);
// %.*f and its like, in any locale with a point
std::string with_digits(double value, int precision, char kind, bool is_alternate = false);

} // namespace jinja
