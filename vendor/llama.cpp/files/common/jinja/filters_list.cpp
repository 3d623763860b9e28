// Filters of lists and objects. Where Jinja gives an iterator, these give a list.
#include "jinja/builtins.h"

#include "jinja/runtime.h"
#include "jinja/text.h"

#include <algorithm>

namespace jinja {

static value new_list(std::vector<value> items, bool is_tuple = false) {
    auto out = mk_val<value_array>(is_tuple);
    for (const auto & item : items) {
        out->push_back(item);
    }
    return out;
}

// "a.b.0" of a value
static value path_of(value val, const value & attribute, const value & missing = nullptr) {
    if (is_integral(attribute)) {
        val = item_of(val, attribute);
        return missing && val->is == kind::undefined ? missing : val;
    }
    const std::string path = text_of(attribute).str();
    work_on(path.size());
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end       = std::min(path.find('.', begin), path.size());
        const std::string name = path.substr(begin, end - begin);
        const bool is_index    = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
        val   = item_of(val, is_index ? of(integer::from_digits(name)) : of(name));
        val   = missing && val->is == kind::undefined ? missing : val;
        begin = end + 1;
    }
    return val;
}

static bool is_given(const value & val) {
    return val && val->is != kind::none;
}

static value without_case(const value & val, bool is_case_sensitive) {
    const auto * text = as<value_string_t>(val);
    if (is_case_sensitive || text == nullptr) {
        return val;
    }
    return of(with_case(text->val_str.str(), letter_case::lower));
}

// what items are compared by
static value key_of(const value & item, const value & attribute, bool is_case_sensitive) {
    return without_case(is_given(attribute) ? path_of(item, attribute) : item, is_case_sensitive);
}

// "a,b" compares by several attributes
static value sort_key(const value & item, const value & attribute, bool is_case_sensitive) {
    const auto * names = is_given(attribute) ? as<value_string_t>(attribute) : nullptr;
    const std::string all = names == nullptr ? "" : names->val_str.str();
    if (all.find(',') == std::string::npos) {
        return key_of(item, attribute, is_case_sensitive);
    }
    auto keys = mk_val<value_array>();
    for (size_t begin = 0; begin <= all.size();) {
        const size_t end = std::min(all.find(',', begin), all.size());
        keys->push_back(key_of(item, of(all.substr(begin, end - begin)), is_case_sensitive));
        begin = end + 1;
    }
    return keys;
}

using keyed_list = std::vector<std::pair<value, value>>;

static void sort_by_key(keyed_list & items, bool is_reverse) {
    const work_memory memory(WORK_ITEM_BYTES * items.size());
    // stable_sort stays within the list even if comparisons contradict each other
    std::stable_sort(items.begin(), items.end(), [is_reverse](const auto & a, const auto & b) {
        work_on(WORK_ITEM_UNITS);
        return is_reverse ? is_less(b.first, a.first) : is_less(a.first, b.first);
    });
}

static value values_of(const keyed_list & items) {
    auto out = mk_val<value_array>();
    for (const auto & item : items) {
        out->push_back(item.second);
    }
    return out;
}

static value sort(const call_args & args) {
    const bound_args given(args, "sort", {"value", "reverse", "case_sensitive", "attribute"});
    keyed_list items;
    for (const auto & item : items_of(given.at(0))) {
        items.emplace_back(sort_key(item, given.at(3), given.flag(2, false)), item);
    }
    sort_by_key(items, given.flag(1, false));
    return values_of(items);
}

static value dictsort(const call_args & args) {
    const bound_args given(args, "dictsort", {"value", "case_sensitive", "by", "reverse"});
    const std::string by = given.at(2) ? given.text(2).str() : "key";
    if (by != "key" && by != "value") {
        throw template_error("You can only sort by either 'key' or 'value'");
    }
    const auto * object = as<value_object_t>(given.at(0));
    if (object == nullptr || object->is_namespace) {
        throw template_error("dictsort() needs a mapping, not " + given.at(0)->type());
    }
    keyed_list items;
    for (const auto & [key, val] : object->pairs) {
        items.emplace_back(without_case(by == "key" ? key : val, given.flag(1, false)), new_list({key, val}, true));
    }
    sort_by_key(items, given.flag(3, false));
    return values_of(items);
}

static value unique(const call_args & args) {
    const bound_args given(args, "unique", {"value", "case_sensitive", "attribute"});
    auto seen = mk_val<value_object>();
    auto out  = mk_val<value_array>();
    for (const auto & item : items_of(given.at(0))) {
        const value key = key_of(item, given.at(2), given.flag(1, false));
        if (seen->find(key) == nullptr) {
            seen->insert(key, item);
            out->push_back(item);
        }
    }
    return out;
}

template <bool IsMax>
static value extreme(const call_args & args) {
    const bound_args given(args, IsMax ? "max" : "min", {"value", "case_sensitive", "attribute"});
    value best;
    value best_key;
    for (const auto & item : items_of(given.at(0))) {
        const value key = key_of(item, given.at(2), given.flag(1, false));
        if (!best || (IsMax ? is_less(best_key, key, ">") : is_less(key, best_key))) {
            best     = item;
            best_key = key;
        }
    }
    return best ? best : mk_val<value_undefined>("an item of an empty list");
}

static value sum_filter(const call_args & args) {
    const bound_args given(args, "sum", {"iterable", "attribute", "start"});
    value total = given.at(2) ? given.at(2) : of(integer(0));
    if (total->is == kind::text) {
        throw template_error("sum() can't sum strings [use ''.join(seq) instead]");
    }
    for (const auto & item : items_of(given.at(0))) {
        total = binary("+", total, is_given(given.at(1)) ? path_of(item, given.at(1)) : item);
    }
    return total;
}

static value group_by(const call_args & args) {
    const bound_args given(args, "groupby", {"value", "attribute", "default", "case_sensitive"}, 2);
    const bool is_case_sensitive = given.flag(3, false);
    keyed_list items;
    for (const auto & item : items_of(given.at(0))) {
        items.emplace_back(without_case(path_of(item, given.at(1), given.at(2)), is_case_sensitive), item);
    }
    sort_by_key(items, false);
    auto out = mk_val<value_array>();
    for (size_t begin = 0; begin < items.size();) {
        auto group = mk_val<value_array>();
        size_t end = begin;
        while (end < items.size() && is_equal(items[end].first, items[begin].first)) {
            group->push_back(items[end++].second);
        }
        out->push_back(new_list({path_of(items[begin].second, given.at(1), given.at(2)), group}, true));
        begin = end;
    }
    return out;
}

// map, select and their like take anything that is false for an empty list
static std::vector<value> items_if_true(const value & val) {
    return is_true(val) ? items_of(val) : std::vector<value>();
}

// the function that map() applies, or the test of select(), by its name in the arguments
static call_args rest_of(const call_args & args, size_t from, const value & first) {
    call_args rest(args.ctx);
    rest.pos.push_back(first);
    for (size_t i = from; i < args.pos.size(); ++i) {
        rest.pos.push_back(args.pos[i]);
    }
    rest.named = args.named;
    return rest;
}

static value map(const call_args & args) {
    if (args.pos.empty()) {
        throw template_error("map() needs a sequence");
    }
    auto out = mk_val<value_array>();
    if (args.pos.size() > 1) {
        const std::string name = text_of(args.pos[1]).str();
        for (const auto & item : items_if_true(args.pos[0])) {
            out->push_back(apply_filter(name, rest_of(args, 2, item)));
        }
        return out;
    }
    value attribute;
    value missing;
    for (const auto & [name, val] : args.named) {
        if (name != "attribute" && name != "default") {
            throw template_error("Unexpected keyword argument '" + name + "'");
        }
        (name == "attribute" ? attribute : missing) = val;
    }
    if (!attribute) {
        throw template_error("map requires a filter argument");
    }
    for (const auto & item : items_if_true(args.pos[0])) {
        out->push_back(path_of(item, attribute, missing));
    }
    return out;
}

template <bool HasAttribute, bool IsKept>
static value select(const call_args & args) {
    const size_t test = HasAttribute ? 2 : 1;
    if (args.pos.size() < test) {
        throw template_error("Missing parameter for attribute name");
    }
    auto out = mk_val<value_array>();
    for (const auto & item : items_if_true(args.pos[0])) {
        work_on(WORK_ITEM_UNITS);
        const value tested = HasAttribute ? path_of(item, args.pos[1]) : item;
        const bool passes  = args.pos.size() > test ? apply_test(text_of(args.pos[test]).str(), rest_of(args, test + 1, tested)) : is_true(tested);
        if (passes == IsKept) {
            out->push_back(item);
        }
    }
    return out;
}

static value join_filter(const call_args & args) {
    const bound_args given(args, "join", {"value", "d", "attribute"});
    const string separator = given.at(1) ? given.text(1) : string();
    text_out out;
    bool is_first = true;
    for (const auto & item : items_of(given.at(0))) {
        out.put(is_first ? string() : separator);
        out.put(text_of(is_given(given.at(2)) ? path_of(item, given.at(2)) : item));
        is_first = false;
    }
    return of(out.text);
}

static value first(const call_args & args) {
    const std::vector<value> items = items_of(bound_args(args, "first", {"seq"}).at(0));
    return items.empty() ? mk_val<value_undefined>("the first item of an empty list") : items.front();
}

static value last(const call_args & args) {
    const std::vector<value> items = items_of(bound_args(args, "last", {"seq"}).at(0));
    return items.empty() ? mk_val<value_undefined>("the last item of an empty list") : items.back();
}

static value length(const call_args & args) {
    return of_size(length_of(bound_args(args, "length", {"object"}).at(0)));
}

static value to_list(const call_args & args) {
    return new_list(items_of(bound_args(args, "list", {"value"}).at(0)));
}

static value reverse(const call_args & args) {
    const value val = bound_args(args, "reverse", {"value"}).at(0);
    if (val->is == kind::text) {
        return slice_of(val, nullptr, nullptr, of(integer(-1)));
    }
    std::vector<value> items = items_of(val);
    std::reverse(items.begin(), items.end());
    return new_list(std::move(items));
}

static value items(const call_args & args) {
    const value val = bound_args(args, "items", {"value"}).at(0);
    auto out = mk_val<value_array>();
    const auto * object = as<value_object_t>(val);
    if (val->is != kind::undefined && (object == nullptr || object->is_namespace)) {
        throw template_error("Can only get item pairs from a mapping.");
    }
    for (size_t i = 0; object != nullptr && i < object->pairs.size(); ++i) {
        out->push_back(new_list({object->pairs[i].first, object->pairs[i].second}, true));
    }
    return out;
}

static value attr(const call_args & args) {
    const bound_args given(args, "attr", {"obj", "name"}, 2);
    const auto * object    = as<value_object_t>(given.at(0));
    const std::string name = given.text(1).str();
    if (given.at(0)->is == kind::undefined) {
        throw_undefined(given.at(0));
    }
    const value * found    = object != nullptr && object->is_namespace ? object->find(name) : nullptr;
    const value method     = found != nullptr ? *found : method_of(given.at(0), name);
    return method ? method : mk_val<value_undefined>(name);
}

static value batch(const call_args & args) {
    const bound_args given(args, "batch", {"value", "linecount", "fill_with"}, 2);
    const int64_t size = std::max<int64_t>(given.count(1, 1), 1);
    auto out = mk_val<value_array>();
    std::vector<value> line;
    for (const auto & item : items_of(given.at(0))) {
        if (static_cast<int64_t>(line.size()) == size) {
            out->push_back(new_list(std::move(line)));
            line.clear();
        }
        line.push_back(item);
    }
    if (!line.empty()) {
        auto last_line = mk_val<value_array>();
        for (int64_t i = 0; i < (is_given(given.at(2)) ? size : static_cast<int64_t>(line.size())); ++i) {
            last_line->push_back(i < static_cast<int64_t>(line.size()) ? line[static_cast<size_t>(i)] : given.at(2));
        }
        out->push_back(last_line);
    }
    return out;
}

static value slice(const call_args & args) {
    const bound_args given(args, "slice", {"value", "slices", "fill_with"}, 2);
    const std::vector<value> all = items_of(given.at(0));
    const int64_t slices = given.count(1, 1);
    if (slices < 1) {
        throw template_error("slice() needs at least one slice");
    }
    const size_t count  = static_cast<size_t>(slices);
    const size_t each   = all.size() / count;
    const size_t longer = all.size() % count;
    auto out  = mk_val<value_array>();
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
        auto part = mk_val<value_array>();
        for (size_t j = 0; j < each + (i < longer ? 1 : 0); ++j) {
            part->push_back(all[at++]);
        }
        if (is_given(given.at(2)) && i >= longer) {
            part->push_back(given.at(2));
        }
        out->push_back(part);
    }
    return out;
}

const builtin_table & list_filters() {
    static const builtin_table table = {
        {"attr", attr}, {"batch", batch}, {"count", length}, {"dictsort", dictsort}, {"first", first}, {"groupby", group_by},
        {"items", items}, {"join", join_filter}, {"last", last}, {"length", length}, {"list", to_list}, {"map", map}, {"max", extreme<true>},
        {"min", extreme<false>}, {"reject", select<false, false>}, {"rejectattr", select<true, false>}, {"reverse", reverse},
        {"select", select<false, true>}, {"selectattr", select<true, true>}, {"slice", slice}, {"sort", sort}, {"sum", sum_filter},
        {"unique", unique},
    };
    return table;
}

} // namespace jinja
