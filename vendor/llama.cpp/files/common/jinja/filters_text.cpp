// Filters of texts.
#include "jinja/builtins.h"
#include "jinja/runtime.h"
#include "jinja/text.h"

#include <algorithm>

namespace jinja {

template <letter_case How>
static value cased_filter(const call_args & args) {
    const bound_args given(args, "filter", {"s"});
    return of(cased(given.text(0), How));
}

// each word after white space or - ( { [ < begins with a capital
static value title(const call_args & args) {
    const string text = bound_args(args, "title", {"s"}).text(0);
    text_out out;
    bool begins = true;
    for (const auto & part : text.parts) {
        const std::string_view piece = part.val;
        for (size_t at = 0; at < piece.size();) {
            const code_point point = code_point_at(piece, at);
            out.put(with_case(piece.substr(at, point.bytes), begins ? letter_case::upper : letter_case::lower), part.is_input);
            begins = is_space(point.value) || (point.value < 0x80 && std::string_view("-({[<").find(piece[at]) != std::string_view::npos);
            at += point.bytes;
        }
    }
    return of(out.text);
}

static value trim_filter(const call_args & args) {
    const bound_args given(args, "trim", {"value", "chars"});
    const string text = given.text(0);
    const bool has_chars    = given.at(1) && given.at(1)->is != kind::none;
    const std::string chars = has_chars ? given.text(1).str() : "";
    const stripped kept     = strip(text.str(), true, true, has_chars ? &chars : nullptr);
    work_on(text.length());
    return of(text.substr(kept.begin, kept.end));
}

static value replace_filter(const call_args & args) {
    const bound_args given(args, "replace", {"s", "old", "new", "count"}, 3);
    const bool has_count = given.at(3) && given.at(3)->is != kind::none;
    return of(replaced(given.text(0), given.text(1), given.text(2), has_count ? given.count(3, -1) : -1));
}

static value indent(const call_args & args) {
    const bound_args given(args, "indent", {"s", "width", "first", "blank"});
    const bool has_text  = given.at(1) && given.at(1)->is == kind::text;
    const string space   = has_text ? given.text(1) : string(work_spaces(given.count(1, 4)));
    const bool is_first  = given.flag(2, false);
    const bool is_blank  = given.flag(3, false);
    string text          = given.only_text(0);
    text.put("\n", text.any_part_is_input());
    text_out out;
    size_t line = 0;
    const spans lines = lines_of(text.str(), false);
    for (const auto & [begin, end] : lines.all) {
        out.put(line > 0 ? "\n" : "");
        if (line == 0 ? is_first : is_blank || begin < end) {
            out.put(space);
        }
        out.put(text.substr(begin, end));
        ++line;
    }
    return of(out.text);
}

string escaped(const string & text) {
    text_out out;
    for (const auto & part : text.parts) {
        for (const char c : part.val) {
            const char * const name = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&#34;" : c == '\'' ? "&#39;" : nullptr;
            out.put(name != nullptr ? std::string_view(name) : std::string_view(&c, 1), part.is_input);
        }
    }
    return out.text;
}

static value safe_text(const string & text) {
    auto out     = mk_val<value_string>(text);
    out->is_safe = true;
    return out;
}

static bool is_safe(const value & val) {
    const auto * text = as<value_string_t>(val);
    return text != nullptr && text->is_safe;
}

static value safe(const call_args & args) {
    return safe_text(bound_args(args, "safe", {"value"}).text(0));
}

static value escape(const call_args & args) {
    const bound_args given(args, "escape", {"s"});
    return is_safe(given.at(0)) ? given.at(0) : safe_text(escaped(given.text(0)));
}

static value forceescape(const call_args & args) {
    return safe_text(escaped(bound_args(args, "forceescape", {"value"}).text(0)));
}

static value as_text(const call_args & args) {
    const bound_args given(args, "string", {"value"});
    if (args.ctx.is_get_stats) {
        value_t::stats_t::mark_used(given.at(0), true);
    }
    return given.at(0)->is == kind::text ? given.at(0) : of(given.text(0));
}

static value wordcount(const call_args & args) {
    const std::string text = bound_args(args, "wordcount", {"s"}).text(0).str();
    work_on(4 * text.size());
    size_t count = 0;
    bool   was_word = false;
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        const bool is_word     = point.value == '_' || is_letter(point.value) || is_digit(point.value);
        count += is_word && !was_word ? 1 : 0;
        was_word = is_word;
        at += point.bytes;
    }
    return of_size(count);
}

static value truncate(const call_args & args) {
    const bound_args given(args, "truncate", {"s", "length", "killwords", "end", "leeway"});
    if (given.at(0)->is != kind::text) {
        const int64_t size = static_cast<int64_t>(length_of(given.at(0)));
        if (size <= given.count(1, 255)) {
            return given.at(0);
        }
    }
    const string text   = given.only_text(0);
    const string end    = given.at(3) ? given.text(3) : string("...");
    const int64_t limit = given.count(1, 255);
    const bool has_leeway = given.at(4) && given.at(4)->is != kind::none;
    const int64_t tail  = static_cast<int64_t>(count_points(end.str()));
    const std::vector<size_t> offsets = point_offsets(text.str());
    const int64_t leeway = has_leeway ? given.count(4, 5) : 5;
    if (limit < tail || leeway < 0) {
        throw template_error("truncate() needs a length of at least that of its end, and a leeway of at least 0");
    }
    if (static_cast<int64_t>(offsets.size()) - 1 - leeway <= limit) {
        return of(text);
    }
    string kept = text.substr(0, offsets[static_cast<size_t>(limit - tail)]);
    const size_t space = given.flag(2, false) ? std::string::npos : kept.str().rfind(' ');
    text_out out;
    out.put(kept.substr(0, space)).put(end);
    return of(out.text);
}

static value center(const call_args & args) {
    const bound_args given(args, "center", {"value", "width"});
    return of(padded(given.text(0), given.count(1, 80), string(" "), '^'));
}

static value format_filter(const call_args & args) {
    if (args.pos.empty() || (args.pos.size() > 1 && !args.named.empty())) {
        throw template_error("format() takes positional or keyword arguments, not both");
    }
    if (!args.named.empty()) {
        auto object = mk_val<value_object>();
        for (const auto & [name, val] : args.named) {
            object->insert(name, val);
        }
        return of(percent_format(text_of(args.pos[0]), object));
    }
    auto tuple = mk_val<value_array>(true);
    for (size_t i = 1; i < args.pos.size(); ++i) {
        tuple->push_back(args.pos[i]);
    }
    return of(percent_format(text_of(args.pos[0]), tuple));
}

const builtin_table & text_filters() {
    static const builtin_table table = {
        {"capitalize", cased_filter<letter_case::capital>},
        {"center", center},
        {"e", escape},
        {"escape", escape},
        {"forceescape", forceescape},
        {"format", format_filter},
        {"indent", indent},
        {"lower", cased_filter<letter_case::lower>},
        {"replace", replace_filter},
        {"safe", safe},
        {"string", as_text},
        {"title", title},
        {"tojson", tojson},
        {"trim", trim_filter},
        {"truncate", truncate},
        {"upper", cased_filter<letter_case::upper>},
        {"wordcount", wordcount},
    };
    return table;
}

} // namespace jinja
