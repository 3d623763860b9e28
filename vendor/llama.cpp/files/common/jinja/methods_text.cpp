// Methods of texts that change them, or tell what they are.
#include "jinja/builtins.h"
#include "jinja/text.h"

#include <algorithm>

namespace jinja {

static const string & self_of(const call_args & args) {
    return as<value_string_t>(args.pos.at(0))->val_str;
}

static void expect_count(const call_args & args, size_t most) {
    if (args.pos.size() > most + 1 || !args.named.empty()) {
        throw template_error("a method of str has too many arguments");
    }
}

string cased(const string & text, letter_case how) {
    text_out out;
    bool begins = true;
    for (const auto & part : text.parts) {
        out.put(with_case(part.val, how, begins), part.is_input);
    }
    return out.text;
}

template <letter_case How>
static value cased_text(const call_args & args) {
    expect_count(args, 0);
    return of(cased(self_of(args), How));
}

template <bool Left, bool Right>
static value stripped_text(const call_args & args) {
    expect_count(args, 1);
    const string & text   = self_of(args);
    const bool has_chars  = args.pos.size() > 1 && args.pos[1]->is != kind::none;
    if (has_chars && args.pos[1]->is != kind::text) {
        throw template_error("strip arg must be None or str");
    }
    const std::string chars = has_chars ? text_of(args.pos[1]).str() : "";
    work_on(text.length());
    const stripped kept = strip(text.str(), Left, Right, has_chars ? &chars : nullptr);
    return of(text.substr(kept.begin, kept.end));
}

string padded(const string & text, int64_t width, const string & fill, char align) {
    if (count_points(fill.str()) != 1) {
        throw template_error("The fill character must be exactly one character long");
    }
    const int64_t length = static_cast<int64_t>(count_points(text.str()));
    const int64_t lacks  = std::max<int64_t>(width - length, 0);
    // as Python does it: the middle moves right if both are odd
    const int64_t before = align == '<' ? 0 : align == '>' ? lacks : lacks / 2 + (lacks & width & 1);
    text_out out;
    for (int64_t i = 0; i < lacks + 1; ++i) {
        if (i == before) {
            out.put(text);
        }
        if (i < lacks) {
            out.put(fill);
        }
    }
    return out.text;
}

template <char Align>
static value padded_text(const call_args & args) {
    const bound_args given(args, "just", {"self", "width", "fillchar"}, 2);
    return of(padded(self_of(args), given.count(1, 0), given.at(2) ? given.only_text(2) : string(" "), Align));
}

static value zfill(const call_args & args) {
    const bound_args given(args, "zfill", {"self", "width"}, 2);
    const string & text    = self_of(args);
    const std::string whole = text.str();
    const size_t sign      = !whole.empty() && (whole[0] == '-' || whole[0] == '+') ? 1 : 0;
    const string number    = padded(text.substr(sign), given.count(1, 0) - static_cast<int64_t>(sign), string("0"), '>');
    text_out out;
    out.put(text.substr(0, sign)).put(number);
    return of(out.text);
}

template <bool (*Has)(uint32_t)>
static value all_are(const call_args & args) {
    expect_count(args, 0);
    const std::string text = self_of(args).str();
    work_on(4 * text.size());
    bool all = !text.empty();
    for (size_t at = 0; all && at < text.size();) {
        const code_point point = code_point_at(text, at);
        all = Has(point.value);
        at += point.bytes;
    }
    return of(all);
}

// each word begins with a capital and has no other
static value istitle(const call_args & args) {
    const std::string text = self_of(args).str();
    work_on(4 * text.size());
    bool some = false;
    bool inside = false;
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        if ((is_upper(point.value) && inside) || (is_lower(point.value) && !inside)) {
            return of(false);
        }
        inside = is_upper(point.value) || is_lower(point.value);
        some   = some || inside;
        at += point.bytes;
    }
    return of(some);
}

static value isidentifier(const call_args & args) {
    const std::string text = self_of(args).str();
    work_on(4 * text.size());
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        if (point.value != '_' && !is_letter(point.value) && (at == 0 || !is_digit(point.value))) {
            return of(false);
        }
        at += point.bytes;
    }
    return of(!text.empty());
}

static value expandtabs(const call_args & args) {
    const bound_args given(args, "expandtabs", {"self", "tabsize"});
    const int64_t size = given.count(1, 8);
    text_out out;
    int64_t column = 0;
    for (const auto & part : self_of(args).parts) {
        for (size_t at = 0; at < part.val.size();) {
            const size_t bytes = code_point_at(part.val, at).bytes;
            const std::string_view point = std::string_view(part.val).substr(at, bytes);
            if (point == "\t") {
                const int64_t spaces = size > 0 ? size - column % size : 0;
                out.put(work_spaces(spaces), part.is_input);
                column += spaces;
            } else {
                out.put(point, part.is_input);
                column = point == "\n" || point == "\r" ? 0 : column + 1;
            }
            at += bytes;
        }
    }
    return of(out.text);
}

static value casefold(const call_args & args) {
    const string sharp("\xC3\x9F");
    call_args lower(args.ctx);
    lower.pos.push_back(of(replaced(self_of(args), sharp, string("ss"), -1)));
    return cased_text<letter_case::lower>(lower);
}

static bool is_alphanumeric(uint32_t point) { return is_letter(point) || is_digit(point); }
static bool is_ascii(uint32_t point) { return point < 0x80; }

// what an empty text is, too
template <bool (*Has)(uint32_t)>
static value none_are_other(const call_args & args) {
    return of(self_of(args).empty() || is_true(all_are<Has>(args)));
}

const builtin_table & text_methods() {
    static const builtin_table table = {
        {"capitalize", cased_text<letter_case::capital>},
        {"casefold", casefold},
        {"center", padded_text<'^'>},
        {"expandtabs", expandtabs},
        {"isalnum", all_are<is_alphanumeric>},
        {"isalpha", all_are<is_letter>},
        {"isascii", none_are_other<is_ascii>},
        {"isdecimal", all_are<is_digit>},
        {"isdigit", all_are<is_digit>},
        {"isidentifier", isidentifier},
        {"islower", [](const call_args & args) { return of(all_lower(self_of(args).str())); }},
        {"isnumeric", all_are<is_digit>},
        {"isprintable", none_are_other<is_printable>},
        {"isspace", all_are<is_space>},
        {"istitle", istitle},
        {"isupper", [](const call_args & args) { return of(all_upper(self_of(args).str())); }},
        {"ljust", padded_text<'<'>},
        {"lower", cased_text<letter_case::lower>},
        {"lstrip", stripped_text<true, false>},
        {"rjust", padded_text<'>'>},
        {"rstrip", stripped_text<false, true>},
        {"strip", stripped_text<true, true>},
        {"swapcase", cased_text<letter_case::swap>},
        {"title", cased_text<letter_case::title>},
        {"upper", cased_text<letter_case::upper>},
        {"zfill", zfill},
    };
    return table;
}

} // namespace jinja
