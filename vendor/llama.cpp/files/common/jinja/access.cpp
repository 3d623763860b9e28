#include "jinja/builtins.h"
#include "jinja/text.h"
#include "jinja/value.h"

#include <algorithm>

namespace jinja {

//
// lengths and items
//

size_t length_of(const value & val) {
    switch (val->is) {
        case kind::undefined: return 0;
        case kind::text:      return count_points(as<value_string_t>(val)->val_str.str());
        case kind::list:      return as<value_array_t>(val)->items.size();
        case kind::loop:      return as<value_loop_t>(val)->items->size();
        case kind::object:
            if (!as<value_object_t>(val)->is_namespace) {
                return as<value_object_t>(val)->pairs.size();
            }
            break;
        default: break;
    }
    throw template_error("object of type '" + val->type() + "' has no len()");
}

std::vector<value> items_of(const value & val) {
    std::vector<value> items;
    if (const auto * list = as<value_array_t>(val)) {
        work_on(WORK_ITEM_UNITS * list->items.size());
        return list->items;
    }
    if (const auto * object = as<value_object_t>(val); object != nullptr && !object->is_namespace) {
        work_on(WORK_ITEM_UNITS * object->pairs.size());
        for (const auto & pair : object->pairs) {
            items.push_back(pair.first);
        }
        return items;
    }
    if (const auto * text = as<value_string_t>(val)) {
        const std::string whole = text->val_str.str();
        for (size_t at = 0; at < whole.size();) {
            const size_t end = at + code_point_at(whole, at).bytes;
            items.push_back(of(text->val_str.substr(at, end)));
            at = end;
        }
        return items;
    }
    if (val->is == kind::undefined) {
        return items;
    }
    throw template_error("'" + val->type() + "' object is not iterable");
}

//
// attributes, items, slices
//

static value missing(const value & object, const std::string & name) {
    return mk_val<value_undefined>(object->type() + " object' has no attribute '" + name);
}

value attribute_of(const value & object, const std::string & name) {
    if (object->is == kind::undefined) {
        throw_undefined(object);
    }
    const auto * fields = as<value_object_t>(object);
    if (fields == nullptr || !fields->is_namespace) {
        if (value found = method_of(object, name)) {
            return found;
        }
    }
    const value * found = fields == nullptr ? nullptr : fields->find(name);
    return found == nullptr ? missing(object, name) : *found;
}

// of a list or a text; false if it is out of range
static bool place_of(const value & key, size_t length, size_t & place) {
    const int64_t size  = static_cast<int64_t>(length);
    const int64_t index = index_of(key);
    if (index >= size || index < -size) {
        return false;
    }
    place = static_cast<size_t>(index < 0 ? index + size : index);
    return true;
}

static bool is_hashable(const value & key) {
    work_on(WORK_ITEM_UNITS);
    const auto * list = as<value_array_t>(key);
    return list != nullptr ? list->is_tuple && std::all_of(list->items.begin(), list->items.end(), is_hashable) : key->is != kind::object;
}

value item_of(const value & object, const value & key) {
    size_t place = 0;
    if (object->is == kind::undefined) {
        throw_undefined(object);
    }
    if (const auto * list = as<value_array_t>(object); list != nullptr && is_integral(key)) {
        return place_of(key, list->items.size(), place) ? list->items[place] : missing(object, integer_of(key).str());
    }
    if (const auto * text = as<value_string_t>(object); text != nullptr && is_integral(key)) {
        const std::vector<size_t> offsets = point_offsets(text->val_str.str());
        return place_of(key, offsets.size() - 1, place) ? of(text->val_str.substr(offsets[place], offsets[place + 1]))
                                                        : missing(object, integer_of(key).str());
    }
    const auto * fields = as<value_object_t>(object);
    if (fields != nullptr && !fields->is_namespace && is_hashable(key)) {
        if (const value * found = fields->find(key)) {
            return *found;
        }
    }
    if (const auto * name = as<value_string_t>(key)) {
        return attribute_of(object, name->val_str.str());
    }
    return missing(object, text_of(key).str());
}

// as Python's slice.indices(): where to begin, and how many items
static size_t slice_range(const value & start, const value & stop, int64_t step, int64_t length, int64_t & first) {
    const int64_t lowest  = step < 0 ? -1 : 0;
    const int64_t highest = step < 0 ? length - 1 : length;
    const auto bound = [&](const value & val, int64_t missing_value) {
        if (!val || val->is == kind::none) {
            return missing_value;
        }
        const int64_t index = index_of(val);
        if (index < 0) {
            return index < -length ? lowest : std::max(index + length, lowest);
        }
        return std::min(index, highest);
    };
    first              = bound(start, step < 0 ? highest : lowest);
    const int64_t last = bound(stop, step < 0 ? lowest : highest);
    // the distance is at most the length, so nothing overflows; the step may be as large as it likes
    const uint64_t distance = step < 0 ? (first > last ? static_cast<uint64_t>(first - last) : 0)
                                       : (last > first ? static_cast<uint64_t>(last - first) : 0);
    const uint64_t stride = step < 0 ? uint64_t{0} - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
    return distance == 0 ? 0 : static_cast<size_t>((distance - 1) / stride + 1);
}

value slice_of(const value & object, const value & start, const value & stop, const value & step) {
    if (object->is == kind::undefined) {
        throw_undefined(object);
    }
    const int64_t stride = step && step->is != kind::none ? index_of(step) : 1;
    if (stride == 0) {
        throw template_error("slice step cannot be zero");
    }
    int64_t at = 0;
    // moving on after the last item could overflow
    const auto each = [&](size_t count, const auto & visit) {
        for (size_t i = 0; i < count; ++i) {
            work_on(WORK_ITEM_UNITS);
            visit(static_cast<size_t>(at));
            at = i + 1 < count ? at + stride : at;
        }
    };
    if (const auto * list = as<value_array_t>(object)) {
        auto out = mk_val<value_array>(list->is_tuple);
        const size_t count = slice_range(start, stop, stride, static_cast<int64_t>(list->items.size()), at);
        each(count, [&](size_t i) { out->push_back(list->items[i]); });
        return out;
    }
    if (const auto * text = as<value_string_t>(object)) {
        const string & whole = text->val_str;
        const std::vector<size_t> offsets = point_offsets(whole.str());
        const size_t count = slice_range(start, stop, stride, static_cast<int64_t>(offsets.size() - 1), at);
        if (stride == 1) {
            work_on(whole.length());
            return of(whole.substr(offsets[static_cast<size_t>(at)], offsets[static_cast<size_t>(at) + count]));
        }
        text_out out;
        each(count, [&](size_t i) {
            out.put(whole.substr(offsets[i], offsets[i + 1]));
        });
        return of(out.text);
    }
    if (object->is == kind::object) {
        throw template_error("unhashable type: 'slice'");
    }
    return missing(object, "a slice");
}

value call(const value & callee, const call_args & args) {
    work_depth depth;
    work_on(WORK_VALUE_UNITS + WORK_ITEM_UNITS * (args.pos.size() + args.named.size()));
    if (const auto * func = as<value_func_t>(callee)) {
        return func->handler(args);
    }
    if (const auto * loop = as<value_loop_t>(callee); loop != nullptr && loop->again && args.pos.size() == 1) {
        return loop->again(args.pos[0], loop->depth0 + 1);
    }
    if (callee->is == kind::undefined) {
        throw_undefined(callee);
    }
    throw template_error("'" + callee->type() + "' object is not callable");
}

} // namespace jinja
