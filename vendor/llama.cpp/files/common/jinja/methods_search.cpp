// Methods of texts that look for others in them.
#include "jinja/builtins.h"
#include "jinja/text.h"

#include <algorithm>

namespace jinja {

static const string & searched_in(const call_args & args) {
    return as<value_string_t>(args.pos.at(0))->val_str;
}

static void put_between(text_out & out, const string & text, size_t begin, size_t end) {
    out.put(text.substr(begin, end));
}

string replaced(const string & text, const string & from, const string & to, int64_t count) {
    const std::string whole = text.str();
    const std::string what  = from.str();
    work_on(whole.size() + what.size());
    text_out out;
    size_t done = 0;
    if (what.empty()) {
        const std::vector<size_t> offsets = point_offsets(whole);
        for (size_t i = 0; i < offsets.size() && (count < 0 || static_cast<int64_t>(i) < count); ++i) {
            put_between(out, text, done, offsets[i]);
            out.put(to);
            done = offsets[i];
        }
    } else {
        for (size_t at = work_find(whole, what); at != std::string::npos && count != 0; at = work_find(whole, what, done)) {
            put_between(out, text, done, at);
            out.put(to);
            done = at + what.size();
            --count;
        }
    }
    put_between(out, text, done, whole.size());
    return out.text;
}

spans lines_of(const std::string & text, bool keeps_ends) {
    work_on(4 * text.size());
    spans lines;
    const auto ends_line = [](uint32_t point) {
        return (point >= 0x0A && point <= 0x0D) || (point >= 0x1C && point <= 0x1E) || point == 0x85 || point == 0x2028 || point == 0x2029;
    };
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
        const code_point point = code_point_at(text, at);
        size_t next = at + point.bytes;
        if (ends_line(point.value)) {
            next += point.value == '\r' && next < text.size() && text[next] == '\n' ? 1 : 0;
            lines.add(begin, keeps_ends ? next : at);
            begin = next;
        }
        at = next;
    }
    if (begin < text.size()) {
        lines.add(begin, text.size());
    }
    return lines;
}

static value list_of_pieces(const string & text, const spans & pieces) {
    auto out = mk_val<value_array>();
    for (const auto & [begin, end] : pieces.all) {
        out->push_back(of(text.substr(begin, end)));
    }
    return out;
}

// words between white space; the rest after so many splits keeps its own
static spans words_of(const std::string & text, int64_t splits) {
    work_on(4 * text.size());
    spans words;
    size_t at = 0;
    const auto skip = [&](bool space) {
        while (at < text.size() && is_space(code_point_at(text, at).value) == space) {
            at += code_point_at(text, at).bytes;
        }
    };
    for (skip(true); at < text.size(); skip(true)) {
        const size_t begin = at;
        if (splits-- == 0) {
            words.add(begin, text.size());
            break;
        }
        skip(false);
        words.add(begin, at);
    }
    return words;
}

static spans words_from_right(const std::string & text, int64_t splits) {
    spans words = words_of(text, -1);
    auto & all = words.all;
    if (splits >= 0 && static_cast<int64_t>(all.size()) > splits) {
        const size_t joined = all.size() - static_cast<size_t>(splits) - 1;
        all[joined].first = 0;
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(joined));
    }
    return words;
}

static spans pieces_between(const std::string & text, const std::string & separator, int64_t splits) {
    spans pieces;
    size_t begin = 0;
    for (size_t at = work_find(text, separator); at != std::string::npos && splits != 0; at = work_find(text, separator, begin)) {
        pieces.add(begin, at);
        begin = at + separator.size();
        --splits;
    }
    pieces.add(begin, text.size());
    return pieces;
}

static spans pieces_from_right(const std::string & text, const std::string & separator, int64_t splits) {
    spans pieces;
    size_t end = text.size();
    work_on(work_times(text.size(), 1 + separator.size() / 8));
    while (splits != 0 && end >= separator.size()) {
        const size_t at = text.rfind(separator, end - separator.size());
        if (at == std::string::npos) {
            break;
        }
        pieces.add(at + separator.size(), end);
        end = at;
        --splits;
    }
    pieces.add(0, end);
    std::reverse(pieces.all.begin(), pieces.all.end());
    return pieces;
}

template <bool FromRight>
static value split(const call_args & args) {
    const bound_args given(args, "split", {"self", "sep", "maxsplit"});
    const string & text    = searched_in(args);
    const std::string whole = text.str();
    work_on(whole.size());
    const int64_t splits   = given.count(2, -1);
    if (!given.at(1) || given.at(1)->is == kind::none) {
        return list_of_pieces(text, FromRight ? words_from_right(whole, splits) : words_of(whole, splits));
    }
    const std::string separator = given.only_text(1).str();
    if (separator.empty()) {
        throw template_error("empty separator");
    }
    return list_of_pieces(text, FromRight ? pieces_from_right(whole, separator, splits) : pieces_between(whole, separator, splits));
}

static value splitlines(const call_args & args) {
    const bound_args given(args, "splitlines", {"self", "keepends"});
    return list_of_pieces(searched_in(args), lines_of(searched_in(args).str(), given.flag(1, false)));
}

template <bool FromRight>
static value partition(const call_args & args) {
    const bound_args given(args, "partition", {"self", "sep"}, 2);
    const string & text         = searched_in(args);
    const std::string separator = given.only_text(1).str();
    if (separator.empty()) {
        throw template_error("empty separator");
    }
    const std::string whole = text.str();
    const spans found = FromRight ? pieces_from_right(whole, separator, 1) : pieces_between(whole, separator, 1);
    const auto & pieces = found.all;
    auto out = mk_val<value_array>(true);
    const bool is_found = pieces.size() == 2;
    const string empty;
    const string head = is_found || !FromRight ? text.substr(pieces[0].first, pieces[0].second) : empty;
    const string tail = is_found || FromRight ? text.substr(pieces.back().first, pieces.back().second) : empty;
    out->push_back(of(head));
    out->push_back(of(is_found ? given.only_text(1) : empty));
    out->push_back(of(tail));
    return out;
}

// the bytes that start and end stand for, as in a slice
static std::pair<size_t, size_t> window_of(const std::string & text, const bound_args & given) {
    if (!given.at(2) && !given.at(3)) {
        return {0, text.size()};
    }
    const std::vector<size_t> offsets = point_offsets(text);
    const int64_t length = static_cast<int64_t>(offsets.size()) - 1;
    const auto place = [&](size_t i, int64_t missing) {
        const bool is_missing = !given.at(i) || given.at(i)->is == kind::none;
        const int64_t index   = is_missing ? missing : index_of(given.at(i));
        return index < 0 ? (index < -length ? 0 : index + length) : index;
    };
    const int64_t begin = place(2, 0);
    const int64_t end   = std::min(place(3, length), length);
    if (begin > length) {
        return {text.size() + 1, text.size()};
    }
    return {offsets[static_cast<size_t>(begin)], offsets[static_cast<size_t>(std::max(begin, end))]};
}

template <bool AtEnd>
static value has_affix(const call_args & args) {
    const bound_args given(args, AtEnd ? "endswith" : "startswith", {"self", "affix", "start", "end"}, 2);
    const std::string text   = searched_in(args).str();
    const auto [begin, end]  = window_of(text, given);
    const auto * tuple       = as<value_array_t>(given.at(1));
    for (const auto & affix : tuple != nullptr && tuple->is_tuple ? tuple->items : std::vector<value>{given.at(1)}) {
        const auto * wanted = as<value_string_t>(affix);
        if (wanted == nullptr) {
            throw template_error("startswith and endswith need a str or a tuple of str, not " + affix->type());
        }
        const std::string what = wanted->val_str.str();
        work_on(16 + what.size());
        if (begin <= end && end - begin >= what.size() && text.compare(AtEnd ? end - what.size() : begin, what.size(), what) == 0) {
            return of(true);
        }
    }
    return of(false);
}

// the code point at which a text is; -1 if it is not
template <bool FromRight>
static int64_t find_place(const call_args & args) {
    const bound_args given(args, "find", {"self", "sub", "start", "end"}, 2);
    const std::string text  = searched_in(args).str();
    const std::string what  = given.only_text(1).str();
    const auto [begin, end] = window_of(text, given);
    if (begin > end || end - begin < what.size()) {
        return -1;
    }
    work_on(work_times(text.size(), 1 + what.size() / 8));
    const size_t at = FromRight ? text.rfind(what, end - what.size()) : work_find(text, what, begin);
    if (at == std::string::npos || at < begin || at + what.size() > end) {
        return -1;
    }
    return static_cast<int64_t>(count_points(std::string_view(text).substr(0, at)));
}

template <bool FromRight>
static value find(const call_args & args) {
    return of(integer(find_place<FromRight>(args)));
}

template <bool FromRight>
static value index_in_text(const call_args & args) {
    const int64_t place = find_place<FromRight>(args);
    if (place < 0) {
        throw template_error("substring not found");
    }
    return of(integer(place));
}

static value count_in_text(const call_args & args) {
    const bound_args given(args, "count", {"self", "sub", "start", "end"}, 2);
    const std::string text  = searched_in(args).str();
    const std::string what  = given.only_text(1).str();
    const auto [begin, end] = window_of(text, given);
    if (begin > end) {
        return of(integer(0));
    }
    const std::string inside = text.substr(begin, end - begin);
    return of_size(what.empty() ? count_points(inside) + 1 : pieces_between(inside, what, -1).all.size() - 1);
}

static value replace_method(const call_args & args) {
    const bound_args given(args, "replace", {"self", "old", "new", "count"}, 3);
    return of(replaced(searched_in(args), given.only_text(1), given.only_text(2), given.count(3, -1)));
}

template <bool IsPrefix>
static value without_affix(const call_args & args) {
    const bound_args given(args, "remove", {"self", "affix"}, 2);
    const string & text    = searched_in(args);
    const std::string whole = text.str();
    const std::string what = given.only_text(1).str();
    work_on(whole.size() + what.size());
    const bool has = whole.size() >= what.size() && whole.compare(IsPrefix ? 0 : whole.size() - what.size(), what.size(), what) == 0;
    if (!has) {
        return of(text);
    }
    return of(IsPrefix ? text.substr(what.size()) : text.substr(0, whole.size() - what.size()));
}

static value join_method(const call_args & args) {
    const bound_args given(args, "join", {"self", "iterable"}, 2);
    text_out out;
    bool is_first = true;
    for (const auto & item : items_of(given.at(1))) {
        if (item->is != kind::text) {
            throw template_error("sequence item: expected str instance, " + item->type() + " found");
        }
        out.put(is_first ? string() : searched_in(args)).put(text_of(item));
        is_first = false;
    }
    return of(out.text);
}

static call_args without_self(const call_args & args) {
    call_args rest(args.ctx);
    rest.pos.assign(args.pos.begin() + 1, args.pos.end());
    rest.named = args.named;
    return rest;
}

static value format_method(const call_args & args) {
    return of(brace_format(searched_in(args), without_self(args)));
}

static value format_map(const call_args & args) {
    const bound_args given(args, "format_map", {"self", "mapping"}, 2);
    const auto * object = as<value_object_t>(given.at(1));
    call_args named(args.ctx);
    for (size_t i = 0; object != nullptr && i < object->pairs.size(); ++i) {
        named.named.emplace_back(text_of(object->pairs[i].first).str(), object->pairs[i].second);
    }
    return of(brace_format(searched_in(args), named));
}

const builtin_table & search_methods() {
    static const builtin_table table = {
        {"count", count_in_text}, {"endswith", has_affix<true>}, {"find", find<false>}, {"format", format_method}, {"format_map", format_map},
        {"index", index_in_text<false>}, {"join", join_method}, {"partition", partition<false>}, {"removeprefix", without_affix<true>},
        {"removesuffix", without_affix<false>}, {"replace", replace_method}, {"rfind", find<true>}, {"rindex", index_in_text<true>},
        {"rpartition", partition<true>}, {"rsplit", split<true>}, {"split", split<false>}, {"splitlines", splitlines},
        {"startswith", has_affix<false>},
    };
    return table;
}

} // namespace jinja
