// Filters, tests, functions and methods, by name. Those that Jinja 2 has and this engine has not throw an error with their name.
#pragma once

#include "text.h"
#include "value.h"

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jinja {

using builtin_table = std::map<std::string, value (*)(const call_args &)>;

// the value to filter, or to test, is the first argument; null if there is none of this name
value (*filter_of(const std::string & name))(const call_args &);
value (*test_of(const std::string & name))(const call_args &);
// a function that every template has; null if there is none
value global_of(const std::string & name);
// a method that is bound to its object; null if there is none
value method_of(const value & object, const std::string & name);

// the tables, for the functions above
const builtin_table & text_filters();
const builtin_table & list_filters();
const builtin_table & number_filters();
const builtin_table & text_methods();
const builtin_table & search_methods();

const builtin_table & tests();
const builtin_table & functions();
const builtin_table & object_methods();
const builtin_table & list_methods();
const builtin_table & tuple_methods();
const builtin_table & loop_methods();

// between two values, from those that bind least
const std::vector<std::vector<const char *>> & operator_levels();
// a comparison; "not in" beside them
const std::vector<const char *> & comparisons();

value apply_filter(const std::string & name, const call_args & args);
bool  apply_test(const std::string & name, const call_args & args);

// The arguments by their names. Throws for one that is not known, given twice, missing, or one too many.
class bound_args {
public:
    bound_args(const call_args & args, const char * function, std::initializer_list<const char *> names, size_t required = 1);
    const value & at(size_t i) const { return values[i]; } // null if it is not given
    bool    has(size_t i) const { return values[i] != nullptr && values[i]->is != kind::undefined; }
    bool    flag(size_t i, bool missing) const { return values[i] ? is_true(values[i]) : missing; }
    int64_t count(size_t i, int64_t missing) const { return values[i] ? index_of(values[i]) : missing; }
    // of a value of any type, as str() gives it
    string  text(size_t i) const { return text_of(values[i]); }
    // throws if it is no text
    const string & only_text(size_t i) const;

private:
    const char * function;
    std::vector<value> values;
};

// json.dumps()
struct json_style {
    bool ensure_ascii = false;
    bool sort_keys    = false;
    bool has_indent   = false;
    string indent;
    string item_separator{", "};
    string key_separator{": "};
};
string json_text(const value & val, const json_style & style);
value  tojson(const call_args & args);

// str.replace(); count < 0 replaces all
string replaced(const string & text, const string & from, const string & to, int64_t count);
// str.center() and its like; align is < > or ^
string padded(const string & text, int64_t width, const string & fill, char align);
// str.lower() and its like
string cased(const string & text, letter_case how);
// parts of a text, from and to which byte
struct spans {
    std::vector<std::pair<size_t, size_t>> all;
    void add(size_t begin, size_t end) {
        work_on(WORK_ITEM_UNITS);
        memory.take(2 * sizeof(std::pair<size_t, size_t>)); // the list grows by doubling
        all.emplace_back(begin, end);
    }

private:
    work_memory memory;
};
// the lines of str.splitlines()
spans lines_of(const std::string & text, bool keeps_ends);

// & < > " ' as HTML spells them
string escaped(const string & text);

// "%d" % value, and "{}".format()
string percent_format(const string & format, const value & val);
string brace_format(const string & format, const call_args & args);

} // namespace jinja
