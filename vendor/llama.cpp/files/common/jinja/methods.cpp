// Methods and attributes of lists, objects and loops, and where those of texts are found.
#include "jinja/builtins.h"

#include <algorithm>

namespace jinja {

//
// objects
//

static const value_object_t & object_of(const call_args & args) {
    return *as<value_object_t>(args.pos.at(0));
}

static value pair_of(const value & a, const value & b) {
    auto pair = mk_val<value_array>(true);
    pair->push_back(a);
    pair->push_back(b);
    return pair;
}

template <int What> // 0: keys, 1: values, 2: both
static value view(const call_args & args) {
    auto out = mk_val<value_array>();
    for (const auto & [key, val] : object_of(args).pairs) {
        out->push_back(What == 0 ? key : What == 1 ? val : pair_of(key, val));
    }
    return out;
}

static value get(const call_args & args) {
    const bound_args given(args, "get", {"self", "key", "default"}, 2);
    const value * found = object_of(args).find(given.at(1));
    return found != nullptr ? *found : given.at(2) ? given.at(2) : mk_val<value_none>();
}

static value copy(const call_args & args) {
    if (const auto * list = as<value_array_t>(args.pos.at(0))) {
        auto out = mk_val<value_array>(list->is_tuple);
        for (const auto & item : list->items) {
            out->push_back(item);
        }
        return out;
    }
    auto out = mk_val<value_object>();
    for (const auto & [key, val] : object_of(args).pairs) {
        out->insert(key, val);
    }
    return out;
}

//
// lists
//

static value_array_t & list_of(const call_args & args) {
    return const_cast<value_array_t &>(*as<value_array_t>(args.pos.at(0)));
}

// Jinja's sandbox of transformers refuses these two; llama.cpp's templates use them
static value append(const call_args & args) {
    const bound_args given(args, "append", {"self", "object"}, 2);
    if (given.at(1)->is == kind::function) {
        throw template_error("the template keeps a function in a list");
    }
    check_does_not_hold(list_of(args), given.at(1));
    list_of(args).push_back(given.at(1));
    return mk_val<value_none>();
}

static value pop(const call_args & args) {
    const bound_args given(args, "pop", {"self", "index"});
    value_array_t & list = list_of(args);
    const int64_t size   = static_cast<int64_t>(list.items.size());
    const int64_t index  = given.count(1, -1);
    if (index >= size || index < -size) {
        throw template_error("pop index out of range");
    }
    const auto place = list.items.begin() + static_cast<std::ptrdiff_t>(index < 0 ? index + size : index);
    const value item = *place;
    work_on(4 * static_cast<uint64_t>(list.items.end() - place));
    list.items.erase(place);
    return item;
}

static value index(const call_args & args) {
    const bound_args given(args, "index", {"self", "value"}, 2);
    const auto & items = list_of(args).items;
    const auto found   = std::find_if(items.begin(), items.end(), [&](const value & item) { return is_equal(item, given.at(1)); });
    if (found == items.end()) {
        throw template_error("the value is not in the list");
    }
    return of_size(static_cast<size_t>(found - items.begin()));
}

static value count(const call_args & args) {
    const bound_args given(args, "count", {"self", "value"}, 2);
    const auto & items = list_of(args).items;
    return of_size(static_cast<size_t>(std::count_if(items.begin(), items.end(), [&](const value & item) { return is_equal(item, given.at(1)); })));
}

//
// loops
//

static value cycle(const call_args & args) {
    const auto * loop = as<value_loop_t>(args.pos.at(0));
    if (args.pos.size() < 2) {
        throw template_error("no items for cycling given");
    }
    return args.pos[1 + loop->index0 % (args.pos.size() - 1)];
}

static value changed(const call_args & args) {
    auto & loop = const_cast<value_loop_t &>(*as<value_loop_t>(args.pos.at(0)));
    auto given  = mk_val<value_array>(true);
    for (size_t i = 1; i < args.pos.size(); ++i) {
        check_does_not_hold(loop, args.pos[i]);
        given->push_back(args.pos[i]);
    }
    const bool is_same = loop.changed && is_equal(loop.changed, given);
    loop.changed = given;
    return of(!is_same);
}

static value loop_field(const value_loop_t & loop, const std::string & name) {
    const auto & items = *loop.items;
    const size_t at    = loop.index0;
    if (name == "index")     { return of_size(at + 1); }
    if (name == "index0")    { return of_size(at); }
    if (name == "revindex")  { return of_size(items.size() - at); }
    if (name == "revindex0") { return of_size(items.size() - at - 1); }
    if (name == "first")     { return of(at == 0); }
    if (name == "last")      { return of(at + 1 == items.size()); }
    if (name == "length")    { return of_size(items.size()); }
    if (name == "depth")     { return of_size(loop.depth0 + 1); }
    if (name == "depth0")    { return of_size(loop.depth0); }
    if (name == "previtem")  { return at > 0 ? items[at - 1] : mk_val<value_undefined>("there is no previous item"); }
    if (name == "nextitem")  { return at + 1 < items.size() ? items[at + 1] : mk_val<value_undefined>("there is no next item"); }
    return nullptr;
}

//
// by name
//

static value bound(const value & object, const std::string & name, value (*method)(const call_args &)) {
    return mk_val<value_func>(name, [object, method](const call_args & args) {
        call_args all(args.ctx);
        all.pos.push_back(object);
        all.pos.insert(all.pos.end(), args.pos.begin(), args.pos.end());
        all.named = args.named;
        return method(all);
    }, object);
}

static value found_in(std::initializer_list<const builtin_table *> tables, const value & object, const std::string & name) {
    for (const auto * table : tables) {
        const auto found = table->find(name);
        if (found != table->end()) {
            return bound(object, name, found->second);
        }
    }
    return nullptr;
}

// attributes that Python has, but that the sandbox keeps from templates
static bool is_unsafe(const value & object, const std::string & name) {
    static const std::set<std::string> of_lists   = {"clear", "extend", "insert", "remove", "reverse", "sort"};
    static const std::set<std::string> of_objects = {"clear", "pop", "popitem", "setdefault", "update"};
    const auto * list = as<value_array_t>(object);
    return list != nullptr ? !list->is_tuple && of_lists.count(name) > 0 : object->is == kind::object && of_objects.count(name) > 0;
}

const builtin_table & object_methods() {
    static const builtin_table table = {{"copy", copy}, {"get", get}, {"items", view<2>}, {"keys", view<0>}, {"values", view<1>}};
    return table;
}

const builtin_table & list_methods() {
    static const builtin_table table = {{"append", append}, {"copy", copy}, {"count", count}, {"index", index}, {"pop", pop}};
    return table;
}

const builtin_table & tuple_methods() {
    static const builtin_table table = {{"count", count}, {"index", index}};
    return table;
}

const builtin_table & loop_methods() {
    static const builtin_table table = {{"changed", changed}, {"cycle", cycle}};
    return table;
}

value method_of(const value & object, const std::string & name) {
    if (is_unsafe(object, name)) {
        return mk_val<value_undefined>("access to attribute '" + name + "' of '" + object->type() + "' object is unsafe; it");
    }
    switch (object->is) {
        case kind::text: return found_in({&text_methods(), &search_methods()}, object, name);
        case kind::object: return as<value_object_t>(object)->is_namespace ? nullptr : found_in({&object_methods()}, object, name);
        case kind::loop: {
            const value field = loop_field(*as<value_loop_t>(object), name);
            return field ? field : found_in({&loop_methods()}, object, name);
        }
        case kind::list: {
            const auto * list = as<value_array_t>(object);
            // the pairs of groupby() have names
            if (list->is_tuple && list->items.size() == 2 && (name == "grouper" || name == "list")) {
                return list->items[name == "list" ? 1 : 0];
            }
            return found_in({list->is_tuple ? &tuple_methods() : &list_methods()}, object, name);
        }
        default: return nullptr;
    }
}

} // namespace jinja
