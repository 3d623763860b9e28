#include "jinja/value.h"


#include <algorithm>
#include <cmath>

namespace jinja {

void value_t::hold(const value_t & child, size_t bytes) {
    static constexpr int NEST_MAX = 200;
    nest = std::max(nest, child.nest + 1);
    if (nest > NEST_MAX) {
        throw template_error("the template nests values too deeply");
    }
    work_on(WORK_ITEM_UNITS);
    held.take(bytes);
}

std::string value_t::type() const {
    switch (is) {
        case kind::undefined: return "Undefined";
        case kind::none:      return "NoneType";
        case kind::boolean:   return "bool";
        case kind::integer:   return "int";
        case kind::real:      return "float";
        case kind::text:      return "str";
        case kind::list:      return static_cast<const value_array_t *>(this)->is_tuple ? "tuple" : "list";
        case kind::object:    return static_cast<const value_object_t *>(this)->is_namespace ? "Namespace" : "dict";
        case kind::loop:      return "LoopContext";
        case kind::function:  return "function";
    }
    return "";
}

value & value_t::at(size_t index) {
    return static_cast<value_array_t *>(this)->items.at(index);
}

value & value_t::at(const std::string & key) {
    const value * found = is == kind::object ? static_cast<value_object_t *>(this)->find(key) : nullptr;
    if (found == nullptr) {
        throw template_error("there is no " + key);
    }
    return const_cast<value &>(*found);
}

void value_t::stats_t::mark_used(const value & val, bool deep) {
    work_depth depth;
    val->stats.used = true;
    if (!deep) {
        return;
    }
    if (const auto * list = as<value_array_t>(val)) {
        for (const auto & item : list->items) {
            mark_used(item, true);
        }
    } else if (const auto * object = as<value_object_t>(val)) {
        for (const auto & [key, each] : object->pairs) {
            mark_used(key, true);
            mark_used(each, true);
        }
    }
}

void throw_undefined(const value & val) {
    const auto * undefined = as<value_undefined_t>(val);
    throw template_error(undefined == nullptr || undefined->name.empty() ? "a value is undefined" : "'" + undefined->name + "' is undefined");
}

value of_size(size_t size) {
    return of(integer(static_cast<int64_t>(size)));
}

//
// objects
//

// numbers that are equal have equal hashes
size_t value_hash::operator()(const value & key) const {
    work_depth depth;
    if (is_number(key)) {
        return std::hash<double>()(double_of(key));
    }
    if (const auto * text = as<value_string_t>(key)) {
        work_on(16 + text->val_str.length());
        return text->val_str.parts.size() == 1 ? std::hash<std::string>()(text->val_str.parts[0].val)
                                               : std::hash<std::string>()(text->val_str.str());
    }
    if (const auto * list = as<value_array_t>(key); list != nullptr && list->is_tuple) {
        size_t hash = 0x9E3779B9;
        for (const auto & item : list->items) {
            hash = hash * 31 + (*this)(item);
        }
        return hash;
    }
    if (key->is == kind::list || (key->is == kind::object && !static_cast<const value_object_t *>(key.get())->is_namespace)) {
        throw template_error("unhashable type: '" + key->type() + "'");
    }
    return key->is == kind::none || key->is == kind::undefined ? static_cast<size_t>(key->is) : std::hash<const void *>()(key.get());
}

bool value_same::operator()(const value & a, const value & b) const {
    return is_equal(a, b);
}

const value * value_object_t::find(const value & key) const {
    if (places.empty()) {
        value_hash()(key); // throws for what cannot be a key
    }
    const auto found = places.find(key);
    return found == places.end() ? nullptr : &pairs[found->second].second;
}

const value * value_object_t::find(const std::string & key) const {
    return find(of(key));
}

void value_object_t::insert(const value & key, const value & val) {
    hold(*key, 0);
    hold(*val, 0);
    const auto [place, is_new] = places.emplace(key, pairs.size());
    if (is_new) {
        held.take(2 * WORK_ITEM_BYTES);
        pairs.emplace_back(key, val);
    } else {
        pairs[place->second].second = val;
    }
}

void value_object_t::insert(const std::string & key, const value & val) {
    insert(of(key), val);
}

void check_does_not_hold(const value_t & container, const value & item) {
    work_depth depth;
    if (item.get() == &container) {
        throw template_error("the template makes something hold itself");
    }
    if (const auto * list = as<value_array_t>(item)) {
        for (const auto & each : list->items) {
            check_does_not_hold(container, each);
        }
    } else if (const auto * object = as<value_object_t>(item)) {
        for (const auto & pair : object->pairs) {
            check_does_not_hold(container, pair.second);
        }
    } else if (const auto * func = as<value_func_t>(item); func != nullptr && func->self) {
        check_does_not_hold(container, func->self);
    } else if (item->is == kind::loop) {
        throw template_error("the template keeps a loop");
    }
}

//
// numbers
//

bool is_integral(const value & val) {
    return val->is == kind::integer || val->is == kind::boolean;
}

bool is_number(const value & val) {
    return is_integral(val) || val->is == kind::real;
}

integer integer_of(const value & val) {
    if (const auto * number = as<value_int_t>(val)) {
        return number->number;
    }
    if (const auto * flag = as<value_bool_t>(val)) {
        return integer(flag->flag ? 1 : 0);
    }
    if (val->is == kind::undefined) {
        throw_undefined(val);
    }
    throw template_error("'" + val->type() + "' object cannot be interpreted as an integer");
}

double double_of(const value & val) {
    if (const auto * number = as<value_float_t>(val)) {
        return number->number;
    }
    const integer number = integer_of(val);
    const double  result = number.to_double();
    return result;
}

int64_t index_of(const value & val) {
    return integer_of(val).clamped();
}

//
// truth, order, membership
//

bool is_true(const value & val) {
    switch (val->is) {
        case kind::undefined:
        case kind::none:     return false;
        case kind::boolean:
        case kind::integer:  return integer_of(val).sign() != 0;
        case kind::real:     return double_of(val) != 0;
        case kind::text:     return !as<value_string_t>(val)->val_str.empty();
        case kind::list:     return !as<value_array_t>(val)->items.empty();
        case kind::object:   return as<value_object_t>(val)->is_namespace || !as<value_object_t>(val)->pairs.empty();
        case kind::loop:
        case kind::function: return true;
    }
    return true;
}

// less, equal or greater: negative, 0 or positive; false if one is not a number
static int compare_numbers(const value & a, const value & b, bool & is_ordered) {
    if (is_integral(a) && is_integral(b)) {
        return integer_of(a).compare(integer_of(b));
    }
    const double x = double_of(a);
    const double y = double_of(b);
    is_ordered     = !std::isnan(x) && !std::isnan(y);
    if (x != y || (a->is == b->is) || std::isinf(x)) {
        return x < y ? -1 : x > y ? 1 : 0;
    }
    // an integer that is close to a float may differ from it
    const auto exact = [](const value & val) { return val->is == kind::real ? integer::from_double(double_of(val)) : integer_of(val); };
    return exact(a).compare(exact(b));
}

static bool equal_texts(const string & a, const string & b) {
    const size_t length = a.length();
    if (length != b.length()) {
        return false;
    }
    work_on(16 + length);
    return a.parts.size() == 1 && b.parts.size() == 1 ? a.parts[0].val == b.parts[0].val : a.str() == b.str();
}

static bool equal_objects(const value_object_t & a, const value_object_t & b) {
    if (a.is_namespace || b.is_namespace || a.pairs.size() != b.pairs.size()) {
        return &a == &b;
    }
    return std::all_of(a.pairs.begin(), a.pairs.end(), [&](const auto & pair) {
        const value * other = b.find(pair.first);
        return other != nullptr && is_equal(pair.second, *other);
    });
}

bool is_equal(const value & a, const value & b) {
    work_depth depth;
    if (is_number(a) && is_number(b)) {
        bool is_ordered = true;
        return compare_numbers(a, b, is_ordered) == 0 && is_ordered;
    }
    if (a->is != b->is) {
        return false;
    }
    if (a->is == kind::text) {
        return equal_texts(as<value_string_t>(a)->val_str, as<value_string_t>(b)->val_str);
    }
    if (const auto * list = as<value_array_t>(a)) {
        const auto * other = as<value_array_t>(b);
        return list->is_tuple == other->is_tuple && list->items.size() == other->items.size() &&
               std::equal(list->items.begin(), list->items.end(), other->items.begin(), is_equal);
    }
    if (const auto * object = as<value_object_t>(a)) {
        return equal_objects(*object, *as<value_object_t>(b));
    }
    return a->is == kind::none || a->is == kind::undefined || a == b;
}

bool is_less(const value & a, const value & b, const char * op) {
    work_depth depth;
    if (is_number(a) && is_number(b)) {
        bool is_ordered = true;
        return compare_numbers(a, b, is_ordered) < 0 && is_ordered;
    }
    if (a->is == kind::text && b->is == kind::text) {
        const string & x = as<value_string_t>(a)->val_str;
        const string & y = as<value_string_t>(b)->val_str;
        work_on(16 + std::min(x.length(), y.length()));
        return x.str() < y.str();
    }
    const auto * list  = as<value_array_t>(a);
    const auto * other = as<value_array_t>(b);
    if (list != nullptr && other != nullptr && list->is_tuple == other->is_tuple) {
        for (size_t i = 0; i < list->items.size() && i < other->items.size(); ++i) {
            if (!is_equal(list->items[i], other->items[i])) {
                return is_less(list->items[i], other->items[i], op);
            }
        }
        return list->items.size() < other->items.size();
    }
    for (const auto & each : {a, b}) {
        if (each->is == kind::undefined) {
            throw_undefined(each);
        }
    }
    throw template_error("'" + std::string(op) + "' not supported between instances of '" + a->type() + "' and '" + b->type() + "'");
}

bool is_in(const value & item, const value & container) {
    if (const auto * text = as<value_string_t>(container)) {
        const auto * part = as<value_string_t>(item);
        if (part == nullptr) {
            throw template_error("'in <string>' requires string as left operand, not " + item->type());
        }
        work_on(16 + text->val_str.length());
        return work_find(text->val_str.str(), part->val_str.str()) != std::string::npos;
    }
    if (const auto * object = as<value_object_t>(container); object != nullptr && !object->is_namespace) {
        return object->find(item) != nullptr;
    }
    if (const auto * list = as<value_array_t>(container)) {
        return std::any_of(list->items.begin(), list->items.end(), [&](const value & each) {
            work_on(WORK_ITEM_UNITS);
            return each == item || is_equal(item, each);
        });
    }
    if (container->is == kind::undefined) {
        return false;
    }
    throw template_error("argument of type '" + container->type() + "' is not iterable");
}

} // namespace jinja
