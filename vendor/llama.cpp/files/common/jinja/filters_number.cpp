// Filters of numbers, and default.
#include "jinja/builtins.h"

#include <cmath>
#include <cstdlib>

namespace jinja {

static value absolute(const call_args & args) {
    const value val = bound_args(args, "abs", {"x"}).at(0);
    if (val->is == kind::real) {
        return of(std::fabs(double_of(val)));
    }
    const integer number = integer_of(val);
    return of(number.sign() < 0 ? -number : number);
}

static value default_value(const call_args & args) {
    const bound_args given(args, "default", {"value", "default_value", "boolean"});
    const value & val  = given.at(0);
    const bool is_kept = val->is != kind::undefined && (!given.flag(2, false) || is_true(val));
    return is_kept ? val : given.at(1) ? given.at(1) : of(std::string());
}

static value to_int(const call_args & args) {
    const bound_args given(args, "int", {"value", "default", "base"});
    const value & val   = given.at(0);
    const value missing = given.at(1) ? given.at(1) : of(integer(0));
    if (is_integral(val)) {
        return of(integer_of(val));
    }
    double number = 0;
    if (const auto * text = as<value_string_t>(val)) {
        const int64_t base = given.count(2, 10);
        if (base != 0 && (base < 2 || base > 36)) {
            throw template_error("int() base must be >= 2 and <= 36, or 0");
        }
        integer whole;
        const std::string digits = text->val_str.str();
        if (parse_integer(digits, static_cast<int>(base), whole)) {
            return of(whole);
        }
        if (!parse_float(digits, number)) {
            return missing;
        }
    } else if (val->is == kind::real) {
        number = double_of(val);
    } else if (val->is == kind::undefined) {
        throw_undefined(val);
    } else {
        return missing;
    }
    return std::isfinite(number) ? of(integer::from_double(number)) : missing;
}

static value to_float(const call_args & args) {
    const bound_args given(args, "float", {"value", "default"});
    const value & val = given.at(0);
    double number     = 0;
    if (is_number(val)) {
        return of(double_of(val));
    }
    const auto * text = as<value_string_t>(val);
    if (text != nullptr && parse_float(text->val_str.str(), number)) {
        return of(number);
    }
    if (val->is == kind::undefined) {
        throw_undefined(val);
    }
    return given.at(1) ? given.at(1) : of(0.0);
}

// half to even, of the exact value of the float
static double rounded(double number, int64_t precision) {
    if (!std::isfinite(number) || precision > 300) {
        return number;
    }
    if (precision >= 0) {
        return std::strtod(with_digits(number, static_cast<int>(precision), 'f').c_str(), nullptr);
    }
    const double power = std::pow(10.0, static_cast<double>(-precision));
    return std::isfinite(power) ? std::nearbyint(number / power) * power : 0.0;
}

static value round(const call_args & args) {
    const bound_args given(args, "round", {"value", "precision", "method"});
    const value & val        = given.at(0);
    const int64_t precision  = given.count(1, 0);
    const std::string method = given.at(2) ? given.text(2).str() : "common";
    if (method == "common") {
        if (is_integral(val) && precision >= 0) {
            return of(integer_of(val));
        }
        return is_integral(val) ? of(integer::from_double(rounded(double_of(val), precision))) : of(rounded(double_of(val), precision));
    }
    if (method != "ceil" && method != "floor") {
        throw template_error("round() takes the methods 'common', 'ceil' and 'floor'");
    }
    if (is_integral(val) && precision >= 0) {
        return of(double_of(val));
    }
    const double power  = std::pow(10.0, static_cast<double>(precision));
    const double scaled = double_of(val) * power;
    return of((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / power);
}

const builtin_table & number_filters() {
    static const builtin_table table = {
        {"abs", absolute}, {"d", default_value}, {"default", default_value}, {"float", to_float}, {"int", to_int}, {"round", round},
    };
    return table;
}

} // namespace jinja
