// Formatted numbers, and "%d" % value.
#include "jinja/builtins.h"
#include "jinja/format.h"
#include "jinja/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace jinja {

static bool is_digit_char(char c) {
    return c >= '0' && c <= '9';
}

int64_t read_format_number(const std::string & text, size_t & at) {
    int64_t number = 0;
    for (; at < text.size() && is_digit_char(text[at]); ++at) {
        number = number * 10 + (text[at] - '0');
        if (number > FORMAT_WIDTH_MAX) {
            throw template_error("the width of a format is more than 1,000,000");
        }
    }
    return number;
}

void put_aligned(text_out & out, const string & text, const field_spec & spec, char align, size_t sign_bytes) {
    const size_t length = count_points(text.str());
    const size_t width  = static_cast<size_t>(spec.width);
    const size_t lacks  = width > length ? width - length : 0;
    const size_t before = align == '<' ? 0 : align == '^' ? lacks / 2 : lacks;
    const auto fill = [&](size_t count) {
        for (size_t i = 0; i < count; ++i) {
            out.put(spec.fill);
        }
    };
    if (align == '=') {
        out.put(text.substr(0, sign_bytes));
        fill(lacks);
        out.put(text.substr(sign_bytes));
        return;
    }
    fill(before);
    out.put(text);
    fill(lacks - before);
}

static std::string grouped(const std::string & digits, char separator) {
    const size_t whole = std::min(digits.find_first_of(".e"), digits.size());
    std::string out;
    for (size_t i = 0; i < whole; ++i) {
        if (i > 0 && (whole - i) % 3 == 0) {
            out.push_back(separator);
        }
        out.push_back(digits[i]);
    }
    return out + digits.substr(whole);
}

static void put_number(text_out & out, const std::string & digits, bool is_negative, const std::string & prefix, const field_spec & spec) {
    const std::string sign = is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
    const std::string lead = sign + prefix;
    const std::string body = spec.grouping == 0 ? digits : grouped(digits, spec.grouping);
    put_aligned(out, string(lead + body), spec, spec.align == 0 ? '>' : spec.align, lead.size());
}

void put_integer(text_out & out, const integer & number, const field_spec & spec) {
    const char kind = spec.kind;
    const int  base = kind == 'x' || kind == 'X' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    std::string digits = base == 10 ? number.str() : number.str(base);
    if (base == 10 && number.sign() < 0) {
        digits.erase(0, 1);
    }
    if (kind == 'X') {
        digits = with_case(digits, letter_case::upper);
    }
    if (spec.precision > static_cast<int64_t>(digits.size())) {
        digits.insert(0, static_cast<size_t>(spec.precision) - digits.size(), '0');
    }
    const std::string prefix = spec.is_alternate && base != 10 ? std::string("0") + kind : "";
    put_number(out, digits, number.sign() < 0, prefix, spec);
}

void put_float(text_out & out, double number, const field_spec & spec) {
    const bool is_negative = std::signbit(number) && !std::isnan(number);
    const double size      = std::fabs(number);
    std::string digits;
    if (std::isfinite(number)) {
        const bool is_percent = spec.kind == '%';
        const char kind       = is_percent ? 'f' : spec.kind == 0 || spec.kind == 'n' ? 'g' : spec.kind;
        const int  precision  = spec.precision >= 0 ? static_cast<int>(spec.precision) : 6;
        digits = spec.kind == 0 && spec.precision < 0 ? float_text(size) : with_digits(is_percent ? size * 100 : size, precision, kind, spec.is_alternate);
        // without a letter, a float keeps its point
        if (spec.kind == 0 && digits.find_first_not_of("0123456789") == std::string::npos) {
            digits += ".0";
        }
        digits += is_percent ? "%" : "";
    } else {
        digits = std::isnan(number) ? "nan" : "inf";
        digits = spec.kind == 'F' || spec.kind == 'E' || spec.kind == 'G' ? with_case(digits, letter_case::upper) : digits;
    }
    put_number(out, digits, is_negative, "", spec);
}

string cut_to(const string & text, int64_t precision) {
    if (precision < 0) {
        return text;
    }
    const std::vector<size_t> offsets = point_offsets(text.str());
    return text.substr(0, offsets[std::min(static_cast<size_t>(precision), offsets.size() - 1)]);
}

string repr_of(const value & val, bool is_ascii) {
    text_out out;
    put_repr(out, val);
    if (!is_ascii) {
        return out.text;
    }
    text_out plain;
    for (const auto & part : out.text.parts) {
        for (size_t at = 0; at < part.val.size();) {
            const code_point point = code_point_at(part.val, at);
            char escape[16];
            std::snprintf(escape, sizeof(escape), point.value < 0x100 ? "\\x%02x" : point.value < 0x10000 ? "\\u%04x" : "\\U%08x", static_cast<unsigned>(point.value));
            plain.put(point.value < 0x80 ? std::string_view(part.val).substr(at, 1) : std::string_view(escape), part.is_input);
            at += point.bytes;
        }
    }
    return plain.text;
}

namespace {

class percent_writer {
public:
    percent_writer(const string & format, const value & val) : format(format), source(format.str()), val(val) {
        const auto * list = as<value_array_t>(val);
        is_tuple = list != nullptr && list->is_tuple;
    }

    string write() {
        size_t plain = 0;
        for (size_t at = work_find(source, "%"); at != std::string::npos; at = work_find(source, "%", plain)) {
            out.put(format.substr(plain, at));
            plain = at + 1;
            put_field(plain);
        }
        out.put(format.substr(plain));
        const bool is_mapping = val->is == kind::object || val->is == kind::undefined || (val->is == kind::list && !is_tuple);
        if (is_tuple ? next < as<value_array_t>(val)->items.size() : next == 0 && !is_mapping && !used_name) {
            throw template_error("not all arguments converted during string formatting");
        }
        return out.text;
    }

private:
    const string & format;
    const std::string source;
    const value & val;
    bool   is_tuple  = false;
    bool   used_name = false;
    size_t next      = 0;
    text_out out;

    value argument() {
        if (is_tuple) {
            const auto & items = as<value_array_t>(val)->items;
            if (next < items.size()) {
                return items[next++];
            }
        } else if (next++ == 0) {
            return val;
        }
        throw template_error("not enough arguments for format string");
    }

    int64_t read_star(size_t & at) {
        if (at < source.size() && source[at] == '*') {
            ++at;
            return std::clamp(index_of(argument()), -FORMAT_WIDTH_MAX, FORMAT_WIDTH_MAX);
        }
        return read_format_number(source, at);
    }

    void put_field(size_t & at) {
        field_spec spec;
        value named;
        if (at < source.size() && source[at] == '(') {
            const size_t end = source.find(')', at);
            const auto * object = as<value_object_t>(val);
            const value * found = object == nullptr || end == std::string::npos ? nullptr : object->find(source.substr(at + 1, end - at - 1));
            if (found == nullptr) {
                throw template_error(object == nullptr ? "format requires a mapping" : "a key of the format is missing");
            }
            named     = *found;
            used_name = true;
            at        = end + 1;
        }
        for (; at < source.size() && std::string("-+ 0#").find(source[at]) != std::string::npos; ++at) {
            work_on(16);
            const char c = source[at];
            if (c == '-') {
                spec.align = '<';
            } else if (c == '0' && spec.align != '<') {
                spec.fill  = string("0");
                spec.align = '=';
            } else if (c == '+' || (c == ' ' && spec.sign != '+')) {
                spec.sign = c;
            }
            spec.is_alternate = spec.is_alternate || c == '#';
        }
        spec.width = read_star(at);
        if (spec.width < 0) {
            spec.width = -spec.width;
            spec.align = '<';
        }
        if (at < source.size() && source[at] == '.') {
            ++at;
            spec.precision = std::max<int64_t>(read_star(at), 0);
        }
        while (at < source.size() && std::string("hlL").find(source[at]) != std::string::npos) {
            ++at;
        }
        if (at == source.size()) {
            throw template_error("incomplete format");
        }
        spec.kind = source[at++];
        if (spec.align == '<') {
            spec.fill = string(" ");
        }
        put_value(spec, named);
    }

    void put_value(field_spec & spec, const value & named) {
        const char kind = spec.kind;
        if (kind == '%') {
            out.put("%");
            return;
        }
        const value arg = named ? named : argument();
        if (kind == 's' || kind == 'r' || kind == 'a') {
            const string text = cut_to(kind == 's' ? text_of(arg) : repr_of(arg, kind == 'a'), spec.precision);
            spec.fill = string(" ");
            put_aligned(out, text, spec, spec.align == '<' ? '<' : '>', 0);
        } else if (kind == 'd' || kind == 'i' || kind == 'u') {
            if (!is_number(arg)) {
                throw template_error(std::string("%") + kind + " format: a real number is required, not " + arg->type());
            }
            put_integer(out, arg->is == kind::real ? integer::from_double(double_of(arg)) : integer_of(arg), spec);
        } else if (kind == 'x' || kind == 'X' || kind == 'o') {
            if (!is_integral(arg)) {
                throw template_error(std::string("%") + kind + " format: an integer is required, not " + arg->type());
            }
            put_integer(out, integer_of(arg), spec);
        } else if (std::string("eEfFgG").find(kind) != std::string::npos) {
            if (!is_number(arg)) {
                throw template_error("must be real number, not " + arg->type());
            }
            put_float(out, double_of(arg), spec);
        } else if (kind == 'c') {
            std::string character;
            if (is_integral(arg)) {
                put_code_point(character, static_cast<uint32_t>(std::clamp<int64_t>(index_of(arg), 0, 0x10FFFF)));
            }
            spec.fill = string(" ");
            // numbers have no marks, and this one may be that of a bracket
            put_aligned(out, is_integral(arg) ? string(character, true) : text_of(arg), spec, spec.align == '<' ? '<' : '>', 0);
        } else {
            throw template_error(std::string("unsupported format character '") + kind + "'");
        }
    }
};

} // namespace

string percent_format(const string & format, const value & val) {
    return percent_writer(format, val).write();
}

} // namespace jinja
