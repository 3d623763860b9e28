#include "jinja/lexer.h"

#include "jinja/text.h"
#include "jinja/work.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace jinja {

std::string line_and_column(const std::string & source, size_t pos) {
    const std::string_view before = std::string_view(source).substr(0, pos);
    const size_t line_begin       = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return "line " + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ", column " + std::to_string(before.size() - line_begin + 1);
}

static std::string with_plain_lines(const std::string & source) {
    std::string plain;
    plain.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r') {
            plain.push_back('\n');
            i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
        } else {
            plain.push_back(source[i]);
        }
    }
    if (!plain.empty() && plain.back() == '\n') {
        plain.pop_back();
    }
    return plain;
}

namespace {

bool is_name_char(unsigned char c) {
    return std::isalnum(c) || c == '_' || c >= 0x80;
}

class scanner {
public:
    explicit scanner(const std::string & source) : src(source) {}
    std::vector<token> tokens;

    void run() {
        while (pos < src.size()) {
            const size_t begin = find_begin(pos);
            put_text(begin);
            if (begin == std::string::npos) {
                return;
            }
            pos = begin;
            switch (src[pos + 1]) {
                case '#': skip_comment(); break;
                case '%': if (!read_raw()) { read_inside(token::begin_block, token::end_block, "%}"); } break;
                default:  read_inside(token::begin_print, token::end_print, "}}"); break;
            }
        }
    }

private:
    const std::string & src;
    size_t pos = 0;
    bool   is_line_start = true; // whether what was read last ended a line

    [[noreturn]] void fail(const std::string & message, size_t at) const { throw syntax_error(message, src, at); }
    bool is_at(size_t at, std::string_view text) const { return src.compare(at, text.size(), text) == 0; }

    size_t find_begin(size_t from) const {
        for (size_t at = src.find('{', from); at != std::string::npos; at = src.find('{', at + 1)) {
            if (at + 1 < src.size() && (src[at + 1] == '{' || src[at + 1] == '%' || src[at + 1] == '#')) {
                return at;
            }
        }
        return std::string::npos;
    }

    // the text before a tag loses its white space if the tag begins with a minus, and what indents it if it is no {{
    std::string_view trimmed(std::string_view text, size_t begin, bool is_after_line) const {
        if (begin == std::string::npos || begin + 2 > src.size()) {
            return text;
        }
        const char sign = begin + 2 < src.size() ? src[begin + 2] : '\0';
        if (sign == '-') {
            return text.substr(0, strip(text, false, true, nullptr).end);
        }
        if (sign != '+' && src[begin + 1] != '{') {
            const size_t line = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
            const std::string_view rest = text.substr(line);
            if ((line > 0 || is_after_line) && strip(rest, true, false, nullptr).begin == rest.size()) {
                return text.substr(0, line);
            }
        }
        return text;
    }

    void put_text(size_t begin) {
        const std::string_view whole = std::string_view(src).substr(pos, begin == std::string::npos ? std::string::npos : begin - pos);
        const std::string_view text  = trimmed(whole, begin, is_line_start);
        if (!text.empty()) {
            tokens.push_back({token::text, std::string(text), pos});
        }
    }

    // after an end tag: a line end that follows a block or comment goes too
    void finish_tag(bool strips, bool is_block, bool keeps_line) {
        is_line_start = false;
        if (strips) {
            while (pos < src.size() && is_space(code_point_at(src, pos).value)) {
                is_line_start = src[pos] == '\n';
                pos += code_point_at(src, pos).bytes;
            }
        } else if (is_block && !keeps_line && pos < src.size() && src[pos] == '\n') {
            ++pos;
            is_line_start = true;
        }
    }

    void skip_comment() {
        const size_t start = pos + 2 + (pos + 2 < src.size() && (src[pos + 2] == '-' || src[pos + 2] == '+') ? 1 : 0);
        const size_t end   = src.find("#}", start);
        if (end == std::string::npos) {
            fail("Missing end of comment tag", pos);
        }
        const char sign = end > start ? src[end - 1] : '\0';
        pos = end + 2;
        finish_tag(sign == '-', true, sign == '+');
    }

    size_t skip_space(size_t at) const {
        while (at < src.size() && is_space(code_point_at(src, at).value)) {
            at += code_point_at(src, at).bytes;
        }
        return at;
    }

    // {% name %} at this place; false if it is another tag
    bool read_simple_tag(std::string_view name, size_t & at, bool & strips) const {
        at += 2;
        at += at < src.size() && (src[at] == '-' || src[at] == '+') ? 1 : 0;
        at = skip_space(at);
        if (!is_at(at, name)) {
            return false;
        }
        at     = skip_space(at + name.size());
        strips = is_at(at, "-%}");
        at += strips || is_at(at, "+%}") ? 1 : 0;
        if (!is_at(at, "%}")) {
            return false;
        }
        at += 2;
        return true;
    }

    bool read_raw() {
        size_t at   = pos;
        bool strips = false;
        if (!read_simple_tag("raw", at, strips)) {
            return false;
        }
        const size_t begin = pos;
        pos = at;
        finish_tag(strips, true, false);
        for (size_t end = src.find("{%", pos); end != std::string::npos; end = src.find("{%", end + 2)) {
            size_t after = end;
            if (read_simple_tag("endraw", after, strips)) {
                put_text(end);
                pos = after;
                finish_tag(strips, true, false);
                return true;
            }
        }
        fail("Missing end of raw directive", begin);
    }

    void read_inside(token::type begin, token::type end, std::string_view end_tag) {
        const size_t start = pos;
        tokens.push_back({begin, "", pos});
        pos += 2;
        pos += pos < src.size() && (src[pos] == '-' || src[pos] == '+') ? 1 : 0;
        std::string open; // brackets
        for (pos = skip_space(pos); pos < src.size(); pos = skip_space(pos)) {
            const bool has_sign = src[pos] == '-' || (src[pos] == '+' && end == token::end_block);
            if (open.empty() && (is_at(pos, end_tag) || (has_sign && is_at(pos + 1, end_tag)))) {
                tokens.push_back({end, "", pos});
                const char sign = src[pos];
                pos += (has_sign ? 1 : 0) + 2;
                finish_tag(sign == '-', end == token::end_block, sign == '+');
                return;
            }
            read_token(open);
        }
        fail(end == token::end_block ? "unexpected end of template, expected '%}'" : "unexpected end of template, expected '}}'", start);
    }

    void read_token(std::string & open) {
        const unsigned char c = static_cast<unsigned char>(src[pos]);
        if (std::isdigit(c)) {
            read_number();
        } else if (is_name_char(c)) {
            const size_t start = pos;
            while (pos < src.size() && is_name_char(static_cast<unsigned char>(src[pos]))) {
                ++pos;
            }
            tokens.push_back({token::name, src.substr(start, pos - start), start});
        } else if (c == '"' || c == '\'') {
            read_string();
        } else {
            read_operator(open);
        }
    }

    // digits of a base, with single underscores between them
    std::string read_digits(const char * allowed, bool may_begin_with_underscore = false) {
        std::string digits;
        while (pos < src.size()) {
            const bool is_separator = src[pos] == '_' && (!digits.empty() || may_begin_with_underscore) && pos + 1 < src.size() &&
                                      std::string_view(allowed).find(src[pos + 1]) != std::string_view::npos;
            if (is_separator) {
                ++pos;
            } else if (std::string_view(allowed).find(src[pos]) == std::string_view::npos) {
                break;
            }
            digits.push_back(src[pos++]);
        }
        return digits;
    }

    void read_number() {
        static constexpr const char * DECIMAL = "0123456789";
        const size_t start = pos;
        const char letter  = pos + 1 < src.size() ? static_cast<char>(std::tolower(static_cast<unsigned char>(src[pos + 1]))) : '\0';
        if (src[pos] == '0' && (letter == 'x' || letter == 'o' || letter == 'b')) {
            pos += 2;
            const std::string digits = read_digits(letter == 'x' ? "0123456789abcdefABCDEF" : letter == 'o' ? "01234567" : "01", true);
            if (digits.empty()) {
                fail("a number without digits", start);
            }
            tokens.push_back({token::whole, std::string("0") + letter + digits, start});
            return;
        }
        std::string number = read_digits(DECIMAL);
        bool is_real       = false;
        const bool is_attribute = start > 0 && src[start - 1] == '.';
        const auto digit_at = [&](size_t at) { return at < src.size() && std::isdigit(static_cast<unsigned char>(src[at])); };
        if (!is_attribute && pos < src.size() && src[pos] == '.' && digit_at(pos + 1)) {
            ++pos;
            number += "." + read_digits(DECIMAL);
            is_real = true;
        }
        if (!is_attribute && pos < src.size() && (src[pos] == 'e' || src[pos] == 'E')) {
            const size_t sign = pos + 1 < src.size() && (src[pos + 1] == '+' || src[pos + 1] == '-') ? 1 : 0;
            if (digit_at(pos + 1 + sign)) {
                number += src.substr(pos, 1 + sign);
                pos += 1 + sign;
                number += read_digits(DECIMAL);
                is_real = true;
            }
        }
        if (!is_real && number.size() > 1 && number[0] == '0' && number.find_first_not_of('0') != std::string::npos) {
            fail("a number that begins with 0", start);
        }
        tokens.push_back({is_real ? token::real : token::whole, number, start});
    }

    // hexadecimal digits of an escape
    void put_code(std::string & out, size_t digits, size_t start) {
        uint32_t value = 0;
        for (size_t i = 0; i < digits; ++i, ++pos) {
            if (pos >= src.size() || !std::isxdigit(static_cast<unsigned char>(src[pos]))) {
                fail("a truncated escape in a string", start);
            }
            const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(src[pos])));
            value = value * 16 + static_cast<uint32_t>(std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : c - 'a' + 10);
        }
        if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
            fail("an escape in a string that is no character", start);
        }
        put_code_point(out, value);
    }

    void read_escape(std::string & out, size_t start) {
        const char c = src[pos++];
        static constexpr std::string_view NAMES  = "\\'\"abfnrtv";
        static constexpr std::string_view VALUES = "\\'\"\a\b\f\n\r\t\v";
        const size_t known = NAMES.find(c);
        if (known != std::string_view::npos) {
            out.push_back(VALUES[known]);
        } else if (c == '\n') {
            return;
        } else if (c == 'x' || c == 'u' || c == 'U') {
            put_code(out, c == 'x' ? 2 : c == 'u' ? 4 : 8, start);
        } else if (c >= '0' && c <= '7') {
            uint32_t value = static_cast<uint32_t>(c - '0');
            for (int i = 0; i < 2 && pos < src.size() && src[pos] >= '0' && src[pos] <= '7'; ++i) {
                value = value * 8 + static_cast<uint32_t>(src[pos++] - '0');
            }
            put_code_point(out, value);
        } else if (c == 'N') {
            fail("an escape \\N in a string, which is not supported,", start);
        } else {
            out.push_back('\\');
            out.push_back(c);
        }
    }

    void read_string() {
        const size_t start = pos;
        const char quote   = src[pos++];
        std::string out;
        while (pos < src.size() && src[pos] != quote) {
            const char c = src[pos++];
            if (c != '\\') {
                out.push_back(c);
            } else if (pos < src.size()) {
                read_escape(out, start);
            }
        }
        if (pos >= src.size()) {
            fail("a string that does not end", start);
        }
        ++pos;
        tokens.push_back({token::string, out, start});
    }

    void read_operator(std::string & open) {
        for (const char * two : {"**", "//", "==", "!=", ">=", "<="}) {
            if (is_at(pos, two)) {
                tokens.push_back({token::op, two, pos});
                pos += 2;
                return;
            }
        }
        const char c = src[pos];
        if (std::string_view("+-*/%~[](){}=<>.:|,;").find(c) == std::string_view::npos) {
            fail(std::string("unexpected character '") + c + "'", pos);
        }
        if (c == '(' || c == '[' || c == '{') {
            open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
        } else if (c == ')' || c == ']' || c == '}') {
            if (open.empty() || open.back() != c) {
                fail(std::string("unexpected '") + c + "'", pos);
            }
            open.pop_back();
        }
        tokens.push_back({token::op, std::string(1, c), pos});
        ++pos;
    }
};

} // namespace

lexer_result lexer::tokenize(const std::string & source) {
    lexer_result result;
    result.source = with_plain_lines(source);
    scanner scan(result.source);
    scan.run();
    result.tokens = std::move(scan.tokens);
    return result;
}

} // namespace jinja
