// The values of templates: those of Python that JSON has, with tuples, undefined values, functions, and Jinja's namespaces and
// loops. Their work and memory is counted (work.h).
#pragma once

#include "number.h"
#include "string.h"
#include "work.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace jinja {

struct value_t;
struct context;
using value = std::shared_ptr<value_t>;

enum class kind { undefined, none, boolean, integer, real, text, list, object, loop, function };

struct value_t {
    const kind is;

    // only if context.is_get_stats
    struct stats_t {
        bool used = false;
        std::set<std::string> ops; // filters, "test_is_…", "array_access", "object_access"
        static void mark_used(const value & val, bool deep = false);
    } stats;

    // nesting depth of lists and objects
    int         nest = 0;
    work_memory held{WORK_VALUE_BYTES};
    // counts a value inside this one; throws if they nest too deeply
    void hold(const value_t & child, size_t bytes = WORK_ITEM_BYTES);

    virtual ~value_t() = default;
    // as Python names it
    std::string type() const;

    // of a list or an object; throw if there is nothing
    value & at(size_t index);
    value & at(const std::string & key);

protected:
    explicit value_t(kind is) : is(is) { work_on(WORK_VALUE_UNITS); }
};

struct value_undefined_t : value_t {
    const std::string name; // what is undefined
    explicit value_undefined_t(std::string name = "") : value_t(kind::undefined), name(std::move(name)) {}
};

struct value_none_t : value_t {
    value_none_t() : value_t(kind::none) {}
};

struct value_bool_t : value_t {
    const bool flag;
    explicit value_bool_t(bool flag) : value_t(kind::boolean), flag(flag) {}
};

struct value_int_t : value_t {
    const integer number;
    explicit value_int_t(integer number) : value_t(kind::integer), number(std::move(number)) {}
};

struct value_float_t : value_t {
    const double number;
    explicit value_float_t(double number) : value_t(kind::real), number(number) {}
};

struct value_string_t : value_t {
    string val_str;
    bool   is_safe = false; // of |safe and |escape: what is joined with it is escaped
    explicit value_string_t(const std::string & text = "", bool is_input = false) : value_t(kind::text) {
        held.take(text.size());
        val_str = string(text, is_input);
    }
    explicit value_string_t(const string & text) : value_t(kind::text) {
        work_on(text.length());
        held.take(text.length() + text.parts.size() * WORK_PART_BYTES);
        val_str = text;
    }
    const string & as_string() const { return val_str; }
    void mark_input() { val_str.mark_input(); }
};

struct value_array_t : value_t {
    std::vector<value> items;
    const bool is_tuple;
    explicit value_array_t(bool is_tuple = false) : value_t(kind::list), is_tuple(is_tuple) {}
    void push_back(const value & item) {
        hold(*item);
        items.push_back(item);
    }
};

struct value_hash {
    size_t operator()(const value & key) const;
};
struct value_same {
    bool operator()(const value & a, const value & b) const;
};

// an object in the order of insertion, or a namespace, whose names a template may set
struct value_object_t : value_t {
    std::vector<std::pair<value, value>> pairs;
    const bool is_namespace;
    explicit value_object_t(bool is_namespace = false) : value_t(kind::object), is_namespace(is_namespace) {}
    // null if there is none; throws if the key cannot be one
    const value * find(const value & key) const;
    const value * find(const std::string & key) const;
    void insert(const value & key, const value & val);
    void insert(const std::string & key, const value & val);

private:
    std::unordered_map<value, size_t, value_hash, value_same> places;
};

// `loop` inside a for statement
struct value_loop_t : value_t {
    const std::shared_ptr<const std::vector<value>> items;
    const size_t depth0;
    size_t index0 = 0;
    value changed; // the arguments of the last loop.changed()
    // calls the loop again for other items; empty if it is not recursive
    std::function<value(const value &, size_t)> again;
    value_loop_t(std::shared_ptr<const std::vector<value>> items, size_t depth0)
        : value_t(kind::loop), items(std::move(items)), depth0(depth0) {}
};

struct call_args {
    context & ctx;
    std::vector<value> pos;
    std::vector<std::pair<std::string, value>> named;
    explicit call_args(context & ctx) : ctx(ctx) {}
};
using func_handler = std::function<value(const call_args &)>;

struct value_func_t : value_t {
    const std::string  name;
    const func_handler handler;
    const value        self; // of a method; may be null
    value_func_t(std::string name, func_handler handler, const value & self = nullptr)
        : value_t(kind::function), name(std::move(name)), handler(std::move(handler)), self(self) {
        if (self) {
            hold(*self, 0);
        }
    }
};

template <typename T> struct pointee { using type = T; };
template <typename T> struct pointee<std::shared_ptr<T>> { using type = T; };
template <typename T, typename... Args>
std::shared_ptr<typename pointee<T>::type> mk_val(Args &&... args) {
    return std::make_shared<typename pointee<T>::type>(std::forward<Args>(args)...);
}
// null if it is of another kind
template <typename T>
const T * as(const value & val) {
    return dynamic_cast<const T *>(val.get());
}

using value_undefined = std::shared_ptr<value_undefined_t>;
using value_none      = std::shared_ptr<value_none_t>;
using value_bool      = std::shared_ptr<value_bool_t>;
using value_int       = std::shared_ptr<value_int_t>;
using value_float     = std::shared_ptr<value_float_t>;
using value_string    = std::shared_ptr<value_string_t>;
using value_array     = std::shared_ptr<value_array_t>;
using value_object    = std::shared_ptr<value_object_t>;
using value_func      = std::shared_ptr<value_func_t>;

// what Python raises
struct template_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
[[noreturn]] void throw_undefined(const value & val);

inline value of(bool flag) { return mk_val<value_bool>(flag); }
inline value of(const integer & number) { return mk_val<value_int>(number); }
inline value of(double number) { return mk_val<value_float>(number); }
inline value of(const string & text) { return mk_val<value_string>(text); }
inline value of(const std::string & text) { return mk_val<value_string>(text); }
value of_size(size_t size);

// Python's bool()
bool is_true(const value & val);
// Python's ==
bool is_equal(const value & a, const value & b);
// Python's <; throws if they cannot be compared
bool is_less(const value & a, const value & b, const char * op = "<");
// Python's in
bool is_in(const value & item, const value & container);

bool is_number(const value & val); // a bool is one
bool is_integral(const value & val);
integer integer_of(const value & val);
double  double_of(const value & val);
// an index or a count: what is out of range becomes the nearest that fits
int64_t index_of(const value & val);

// Python's str(), and what {{ }} writes
string text_of(const value & val);
// Python's repr()
void put_repr(text_out & out, const value & val);

// Python's len() and iteration: characters, items, keys; throws if it has none
size_t length_of(const value & val);
std::vector<value> items_of(const value & val);

// Jinja's a.b and a[b]; undefined if there is none
value attribute_of(const value & object, const std::string & name);
value item_of(const value & object, const value & key);
value slice_of(const value & object, const value & start, const value & stop, const value & step);

value call(const value & callee, const call_args & args);

// throws if the item contains the container: it would never be freed
void check_does_not_hold(const value_t & container, const value & item);

} // namespace jinja
