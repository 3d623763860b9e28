#include "jinja/number.h"

#include "jinja/text.h"
#include "jinja/work.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace jinja {

static constexpr uint32_t BASE        = 1000000000;
static constexpr size_t   BASE_DIGITS = 9;

using limb_list = std::vector<uint32_t>;

static void trim_limbs(limb_list & limbs) {
    while (!limbs.empty() && limbs.back() == 0) {
        limbs.pop_back();
    }
}

static int compare_limbs(const limb_list & a, const limb_list & b) {
    if (a.size() != b.size()) {
        return a.size() < b.size() ? -1 : 1;
    }
    for (size_t i = a.size(); i-- > 0;) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static limb_list limb_sum(const limb_list & a, const limb_list & b) {
    limb_list out;
    uint32_t  carry = 0;
    for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
        const uint32_t digit = (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0) + carry;
        out.push_back(digit % BASE);
        carry = digit / BASE;
    }
    return out;
}

// a must not be less than b
static limb_list difference(const limb_list & a, const limb_list & b) {
    limb_list out;
    int64_t   borrow = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        int64_t digit = int64_t{a[i]} - (i < b.size() ? b[i] : 0) - borrow;
        borrow        = digit < 0 ? 1 : 0;
        out.push_back(static_cast<uint32_t>(digit + borrow * BASE));
    }
    trim_limbs(out);
    return out;
}

static limb_list product(const limb_list & a, const limb_list & b) {
    work_on(4 * work_times(a.size(), b.size()));
    limb_list out(a.size() + b.size(), 0);
    for (size_t i = 0; i < a.size(); ++i) {
        uint64_t carry = 0;
        for (size_t j = 0; j < b.size() || carry != 0; ++j) {
            const uint64_t digit = out[i + j] + carry + uint64_t{a[i]} * (j < b.size() ? b[j] : 0);
            out[i + j]           = static_cast<uint32_t>(digit % BASE);
            carry                = digit / BASE;
        }
    }
    trim_limbs(out);
    return out;
}

// the quotient; leaves the remainder in a
static limb_list quotient(limb_list & a, const limb_list & b) {
    work_on(256 * work_times(a.size() + 1, b.size() + 1));
    limb_list rest;
    limb_list out(a.size(), 0);
    for (size_t i = a.size(); i-- > 0;) {
        rest.insert(rest.begin(), a[i]);
        trim_limbs(rest);
        uint32_t low  = 0;
        uint32_t high = BASE - 1;
        while (low < high) {
            const uint32_t middle = low + (high - low + 1) / 2;
            if (compare_limbs(product(b, {middle}), rest) <= 0) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        rest   = low == 0 ? rest : difference(rest, product(b, {low}));
        out[i] = low;
    }
    trim_limbs(out);
    a = rest;
    return out;
}

limb_list integer::magnitude() const {
    work_on(8 + limbs.size());
    if (!fits()) {
        return limbs;
    }
    uint64_t  rest = small < 0 ? uint64_t{0} - static_cast<uint64_t>(small) : static_cast<uint64_t>(small);
    limb_list out;
    for (; rest > 0; rest /= BASE) {
        out.push_back(static_cast<uint32_t>(rest % BASE));
    }
    return out;
}

integer integer::normal(limb_list limbs, bool negative) {
    trim_limbs(limbs);
    if (limbs.size() > INTEGER_DIGITS_MAX / BASE_DIGITS) {
        throw std::runtime_error("an integer has more than 4,300 digits");
    }
    integer out;
    static const limb_list MAX = integer(INT64_MAX).magnitude();
    static const limb_list MIN = integer(INT64_MIN).magnitude();
    if (compare_limbs(limbs, negative ? MIN : MAX) <= 0) {
        uint64_t value = 0;
        for (size_t i = limbs.size(); i-- > 0;) {
            value = value * BASE + limbs[i];
        }
        out.small = static_cast<int64_t>(negative ? uint64_t{0} - value : value);
        return out;
    }
    out.negative = negative;
    out.limbs    = std::move(limbs);
    return out;
}

integer integer::from_unsigned(uint64_t value) {
    return from_digits(std::to_string(value));
}

integer integer::from_digits(std::string_view digits) {
    const bool negative = !digits.empty() && digits[0] == '-';
    if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
        digits.remove_prefix(1);
    }
    while (digits.size() > 1 && digits[0] == '0') {
        digits.remove_prefix(1);
    }
    work_on(digits.size());
    if (digits.size() > INTEGER_DIGITS_MAX) {
        throw std::runtime_error("an integer has more than 4,300 digits");
    }
    limb_list limbs;
    for (size_t end = digits.size(); end > 0; end -= std::min(end, BASE_DIGITS)) {
        const size_t begin = end - std::min(end, BASE_DIGITS);
        uint32_t     limb  = 0;
        for (size_t i = begin; i < end; ++i) {
            limb = limb * 10 + static_cast<uint32_t>(digits[i] - '0');
        }
        limbs.push_back(limb);
    }
    return normal(std::move(limbs), negative);
}

integer integer::from_double(double value) {
    if (std::isnan(value)) {
        throw std::runtime_error("cannot convert float NaN to integer");
    }
    if (std::isinf(value)) {
        throw std::runtime_error("cannot convert float infinity to integer");
    }
    const double whole = std::trunc(value);
    if (whole >= -9007199254740992.0 && whole <= 9007199254740992.0) {
        return integer(static_cast<int64_t>(whole));
    }
    return from_digits(with_digits(whole, 0, 'f'));
}

std::string integer::str() const {
    if (fits()) {
        return std::to_string(small);
    }
    work_on(16 * limbs.size());
    std::string text = (negative ? "-" : "") + std::to_string(limbs.back());
    for (size_t i = limbs.size() - 1; i-- > 0;) {
        const std::string digits = std::to_string(limbs[i]);
        text.append(BASE_DIGITS - digits.size(), '0').append(digits);
    }
    return text;
}

std::string integer::str(int base) const {
    std::string text;
    limb_list   rest = magnitude();
    while (!rest.empty()) {
        const limb_list next = quotient(rest, {static_cast<uint32_t>(base)});
        text.push_back("0123456789abcdef"[rest.empty() ? 0 : rest[0]]);
        rest = next;
    }
    std::reverse(text.begin(), text.end());
    return text.empty() ? "0" : text;
}

double integer::to_double() const {
    return fits() ? static_cast<double>(small) : std::strtod(str().c_str(), nullptr);
}

int integer::compare(const integer & other) const {
    if (fits() && other.fits()) {
        return (small > other.small) - (small < other.small);
    }
    if (sign() != other.sign()) {
        return sign() < other.sign() ? -1 : 1;
    }
    const int order = compare_limbs(magnitude(), other.magnitude());
    return sign() < 0 ? -order : order;
}

integer integer::operator-() const {
    if (fits() && small != INT64_MIN) {
        return integer(-small);
    }
    return normal(magnitude(), sign() > 0);
}

integer integer::operator+(const integer & other) const {
    if (fits() && other.fits()) {
        const uint64_t wrapped = static_cast<uint64_t>(small) + static_cast<uint64_t>(other.small);
        const int64_t  result  = static_cast<int64_t>(wrapped);
        if ((small < 0) != (other.small < 0) || (result < 0) == (small < 0)) {
            return integer(result);
        }
    }
    const limb_list a = magnitude();
    const limb_list b = other.magnitude();
    work_on(8 * (a.size() + b.size()));
    if ((sign() < 0) == (other.sign() < 0)) {
        return normal(limb_sum(a, b), sign() < 0);
    }
    return compare_limbs(a, b) >= 0 ? normal(difference(a, b), sign() < 0) : normal(difference(b, a), other.sign() < 0);
}

integer integer::operator*(const integer & other) const {
    constexpr int64_t HALF = int64_t{1} << 31;
    if (fits() && other.fits() && small > -HALF && small < HALF && other.small > -HALF && other.small < HALF) {
        return integer(small * other.small);
    }
    return normal(product(magnitude(), other.magnitude()), sign() * other.sign() < 0);
}

integer integer::divided_by(const integer & other, integer & remainder) const {
    if (other.sign() == 0) {
        throw std::runtime_error("integer division or modulo by zero");
    }
    const bool rounds = (sign() < 0) != (other.sign() < 0);
    integer    result;
    if (fits() && other.fits() && !(small == INT64_MIN && other.small == -1)) {
        result    = integer(small / other.small);
        remainder = integer(small % other.small);
    } else {
        limb_list a = magnitude();
        result      = normal(quotient(a, other.magnitude()), rounds);
        remainder   = normal(a, sign() < 0);
    }
    if (rounds && remainder.sign() != 0) {
        result    = result - integer(1);
        remainder = remainder + other;
    }
    return result;
}

integer integer::power(uint64_t exponent) const {
    integer result(1);
    integer factor = *this;
    for (; exponent > 0; exponent >>= 1) {
        work_on(64);
        if ((exponent & 1) != 0) {
            result = result * factor;
        }
        if (exponent > 1) {
            factor = factor * factor;
        }
    }
    return result;
}

// as in Python: without an exponent from 1e-4 to 1e16
std::string float_text(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    char        buffer[64];
    const auto  end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
    std::string text(buffer, end);
    const size_t mark     = text.find('e');
    const int    exponent = std::atoi(text.c_str() + mark + 1);
    const std::string sign = text[0] == '-' ? "-" : "";
    std::string       digits;
    for (const char c : text.substr(0, mark)) {
        if (c >= '0' && c <= '9') {
            digits.push_back(c);
        }
    }
    if (exponent < -4 || exponent >= 16) {
        const std::string power = std::to_string(std::abs(exponent));
        return sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") + (exponent < 0 ? "e-" : "e+") +
               (power.size() < 2 ? "0" : "") + power;
    }
    if (exponent < 0) {
        return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
    }
    const size_t whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) {
        return sign + digits + std::string(whole - digits.size(), '0') + ".0";
    }
    return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string with_digits(double value, int precision, char kind, bool is_alternate) {
    if (precision < 0 || precision > 1000) {
        throw std::runtime_error("the precision of a number is more than 1,000");
    }
    work_on(4096);
    const std::string format = std::string(is_alternate ? "%#" : "%") + ".*" + kind;
    std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, format.c_str(), precision, value)), '\0');
    std::snprintf(text.data(), text.size() + 1, format.c_str(), precision, value);
    std::replace(text.begin(), text.end(), ',', '.');
    return text;
}

// without white space around, and without the underscores between digits; false if an underscore is elsewhere
static bool plain_digits(std::string_view text, std::string & out) {
    const stripped kept = strip(text, true, true, nullptr);
    text = text.substr(kept.begin, kept.end - kept.begin);
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') {
            out.push_back(text[i]);
        } else if (i == 0 || i + 1 == text.size() || !std::isalnum(static_cast<unsigned char>(text[i - 1])) ||
                   !std::isalnum(static_cast<unsigned char>(text[i + 1]))) {
            return false;
        }
    }
    return !out.empty();
}

bool parse_float(std::string_view text, double & value) {
    work_on(8 + 2 * text.size());
    std::string plain;
    if (!plain_digits(text, plain)) {
        return false;
    }
    const std::string lower = with_case(plain, letter_case::lower);
    const std::string bare  = lower[0] == '-' || lower[0] == '+' ? lower.substr(1) : lower;
    if (bare == "inf" || bare == "infinity" || bare == "nan") {
        value = bare == "nan" ? std::nan("") : lower[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (bare.empty() || bare.find_first_not_of("0123456789.e+-") != std::string::npos) {
        return false;
    }
    char * end = nullptr;
    value      = std::strtod(plain.c_str(), &end);
    return end == plain.c_str() + plain.size();
}

bool parse_integer(std::string_view text, int base, integer & value) {
    work_on(8 + 2 * text.size());
    std::string plain;
    if (!plain_digits(text, plain)) {
        return false;
    }
    plain               = with_case(plain, letter_case::lower);
    const bool negative = plain[0] == '-';
    if (negative || plain[0] == '+') {
        plain.erase(0, 1);
    }
    for (const auto & [letter, of] : {std::pair{'x', 16}, {'o', 8}, {'b', 2}}) {
        if (plain.size() > 2 && plain[0] == '0' && plain[1] == letter && (base == of || base == 0)) {
            plain.erase(0, 2);
            base = of;
        }
    }
    if (base == 0) {
        base = 10;
        if (plain.size() > 1 && plain[0] == '0' && plain.find_first_not_of('0') != std::string::npos) {
            return false;
        }
    }
    integer result;
    for (const char c : plain) {
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
        if (digit >= base) {
            return false;
        }
        if (base != 10) {
            result = result * integer(base) + integer(digit);
        }
    }
    if (base == 10 && !plain.empty()) {
        result = integer::from_digits(plain);
    }
    value = negative ? -result : result;
    return !plain.empty();
}

} // namespace jinja
