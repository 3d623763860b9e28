#include "jinja/builtins.h"

#include "jinja/runtime.h"
#include "jinja/text.h"

#include <algorithm>
#include <ctime>

namespace jinja {

//
// arguments
//

bound_args::bound_args(const call_args & args, const char * function, std::initializer_list<const char *> names, size_t required)
    : function(function), values(names.size()) {
    if (args.pos.size() > names.size()) {
        throw template_error(std::string(function) + "() takes at most " + std::to_string(names.size()) + " arguments");
    }
    std::copy(args.pos.begin(), args.pos.end(), values.begin());
    for (const auto & [name, val] : args.named) {
        const auto * place = std::find_if(names.begin(), names.end(), [&name = name](const char * each) { return name == each; });
        if (place == names.end()) {
            throw template_error(std::string(function) + "() got an unexpected keyword argument '" + name + "'");
        }
        value & given = values[static_cast<size_t>(place - names.begin())];
        if (given) {
            throw template_error(std::string(function) + "() got multiple values for argument '" + name + "'");
        }
        given = val;
    }
    for (size_t i = 0; i < required; ++i) {
        if (!values[i]) {
            throw template_error(std::string(function) + "() needs the argument '" + names.begin()[i] + "'");
        }
    }
}

const string & bound_args::only_text(size_t i) const {
    const auto * text = as<value_string_t>(values[i]);
    if (text == nullptr) {
        throw template_error(std::string(function) + "() needs a str, not " + values[i]->type());
    }
    return text->val_str;
}

//
// filters
//

value (*filter_of(const std::string & name))(const call_args &) {
    for (const auto * table : {&text_filters(), &list_filters(), &number_filters()}) {
        const auto found = table->find(name);
        if (found != table->end()) {
            return found->second;
        }
    }
    return nullptr;
}

static std::string unknown(const char * what, const std::string & name, std::initializer_list<const char *> of_jinja) {
    const bool is_known = std::find(of_jinja.begin(), of_jinja.end(), name) != of_jinja.end();
    return is_known ? std::string("the ") + what + " '" + name + "' of Jinja is not supported" : std::string("No ") + what + " named '" + name + "'";
}

value apply_filter(const std::string & name, const call_args & args) {
    work_depth depth;
    work_on(WORK_VALUE_UNITS + WORK_ITEM_UNITS * (args.pos.size() + args.named.size()));
    const auto filter = filter_of(name);
    if (filter == nullptr) {
        throw template_error(unknown("filter", name, {"filesizeformat", "pprint", "random", "striptags", "urlencode", "urlize", "wordwrap", "xmlattr"}));
    }
    if (args.ctx.is_get_stats && !args.pos.empty()) {
        value_t::stats_t::mark_used(args.pos[0]);
        args.pos[0]->stats.ops.insert(name);
    }
    return filter(args);
}

//
// tests
//

template <kind K>
static value is_kind(const call_args & args) {
    return of(bound_args(args, "test", {"value"}).at(0)->is == K);
}

template <bool (*compare)(const value &, const value &)>
static value compares(const call_args & args) {
    const bound_args given(args, "test", {"a", "b"}, 2);
    return of(compare(given.at(0), given.at(1)));
}

static bool is_same(const value & a, const value & b) {
    return a == b || (a->is == b->is && (a->is == kind::none || ((a->is == kind::boolean || a->is == kind::integer) && is_equal(a, b))));
}

static bool divides(const value & number, const value & by) {
    return is_equal(binary("%", number, by), of(integer(0)));
}

static bool has_remainder(const value & val, int wanted) {
    return is_equal(binary("%", val, of(integer(2))), of(integer(wanted)));
}

static bool is_iterable(const value & val) {
    return val->is == kind::text || val->is == kind::list || val->is == kind::undefined || val->is == kind::loop ||
           (val->is == kind::object && !as<value_object_t>(val)->is_namespace);
}

static bool less(const value & a, const value & b) { return is_less(a, b); }
static bool greater(const value & a, const value & b) { return is_less(b, a, ">"); }
static bool at_most(const value & a, const value & b) { return is_less(a, b, "<=") || is_equal(a, b); }
static bool at_least(const value & a, const value & b) { return is_less(b, a, ">=") || is_equal(a, b); }
static bool differ(const value & a, const value & b) { return !is_equal(a, b); }

// a test of one value
template <bool (*test)(const value &)>
static value passes(const call_args & args) {
    return of(test(bound_args(args, "test", {"value"}).at(0)));
}

static bool is_callable(const value & val) { return val->is == kind::function || val->is == kind::undefined || val->is == kind::loop; }
static bool is_defined(const value & val) { return val->is != kind::undefined; }
static bool is_even(const value & val) { return has_remainder(val, 0); }
static bool is_odd(const value & val) { return has_remainder(val, 1); }
static bool is_just_true(const value & val) { return val->is == kind::boolean && is_true(val); }
static bool is_just_false(const value & val) { return val->is == kind::boolean && !is_true(val); }
static bool is_escaped(const value & val) {
    const auto * text = as<value_string_t>(val);
    return text != nullptr && text->is_safe;
}
static bool is_lower_text(const value & val) { return all_lower(text_of(val).str()); }
static bool is_upper_text(const value & val) { return all_upper(text_of(val).str()); }
static bool is_sequence(const value & val) { return is_iterable(val) && val->is != kind::loop; }
static bool names_filter(const value & val) { return filter_of(text_of(val).str()) != nullptr; }
static bool names_test(const value & val) { return test_of(text_of(val).str()) != nullptr; }
static bool is_mapping(const value & val) {
    const auto * object = as<value_object_t>(val);
    return object != nullptr && !object->is_namespace;
}

const builtin_table & tests() {
    static const builtin_table table = {
        {"boolean", is_kind<kind::boolean>},   {"callable", passes<is_callable>},   {"defined", passes<is_defined>},
        {"divisibleby", compares<divides>},    {"eq", compares<is_equal>},          {"equalto", compares<is_equal>},
        {"escaped", passes<is_escaped>},       {"even", passes<is_even>},           {"false", passes<is_just_false>},
        {"filter", passes<names_filter>},      {"float", is_kind<kind::real>},      {"ge", compares<at_least>},
        {"greaterthan", compares<greater>},    {"gt", compares<greater>},           {"in", compares<is_in>},
        {"integer", is_kind<kind::integer>},   {"iterable", passes<is_iterable>},   {"le", compares<at_most>},
        {"lessthan", compares<less>},          {"lower", passes<is_lower_text>},    {"lt", compares<less>},
        {"mapping", passes<is_mapping>},       {"ne", compares<differ>},            {"none", is_kind<kind::none>},
        {"number", passes<is_number>},         {"odd", passes<is_odd>},             {"sameas", compares<is_same>},
        {"sequence", passes<is_sequence>},     {"string", is_kind<kind::text>},     {"test", passes<names_test>},
        {"true", passes<is_just_true>},        {"undefined", is_kind<kind::undefined>}, {"upper", passes<is_upper_text>},
        {"==", compares<is_equal>},            {"!=", compares<differ>},            {"<", compares<less>},
        {"<=", compares<at_most>},             {">", compares<greater>},            {">=", compares<at_least>},
    };
    return table;
}

value (*test_of(const std::string & name))(const call_args &) {
    const auto found = tests().find(name);
    return found == tests().end() ? nullptr : found->second;
}

bool apply_test(const std::string & name, const call_args & args) {
    work_depth depth;
    const auto test = test_of(name);
    if (test == nullptr) {
        throw template_error(unknown("test", name, {}));
    }
    if (args.ctx.is_get_stats) {
        value_t::stats_t::mark_used(args.pos.at(0));
        args.pos[0]->stats.ops.insert("test_is_" + name);
    }
    return is_true(test(args));
}

//
// functions
//

static value raise_exception(const call_args & args) {
    const bound_args given(args, "raise_exception", {"message"});
    throw raised_exception(given.text(0).str());
}

static value make_namespace(const call_args & args) {
    auto out = mk_val<value_object>(true);
    for (const auto & each : args.pos) {
        const auto * object = as<value_object_t>(each);
        if (object == nullptr) {
            throw template_error("namespace() takes keyword arguments or a dict");
        }
        for (const auto & [key, val] : object->pairs) {
            out->insert(key, val);
        }
    }
    for (const auto & [name, val] : args.named) {
        out->insert(name, val);
    }
    return out;
}

static value make_dict(const call_args & args) {
    auto out = mk_val<value_object>();
    for (const auto & each : args.pos) {
        const auto * object = as<value_object_t>(each);
        for (const auto & item : items_of(each)) {
            const std::vector<value> pair = object != nullptr ? std::vector<value>{item, *object->find(item)} : items_of(item);
            if (pair.size() != 2) {
                throw template_error("dict() needs pairs");
            }
            out->insert(pair[0], pair[1]);
        }
    }
    for (const auto & [name, val] : args.named) {
        out->insert(name, val);
    }
    return out;
}

static value strftime_now(const call_args & args) {
    const bound_args given(args, "strftime_now", {"format"});
    const std::string format = given.only_text(0).str();
    char buffer[1024];
    const size_t length = std::strftime(buffer, sizeof(buffer), format.c_str(), std::localtime(&args.ctx.current_time));
    if (length == 0 && !format.empty()) {
        throw template_error("strftime_now() cannot write this format");
    }
    string text(std::string(buffer, length));
    text.mark_input_based_on(given.only_text(0));
    return of(text);
}

static value range(const call_args & args) {
    if (args.pos.empty() || args.pos.size() > 3 || !args.named.empty()) {
        throw template_error("range() takes one to three integers");
    }
    const int64_t start = args.pos.size() > 1 ? index_of(args.pos[0]) : 0;
    const int64_t stop  = index_of(args.pos[args.pos.size() > 1 ? 1 : 0]);
    const int64_t step  = args.pos.size() > 2 ? index_of(args.pos[2]) : 1;
    if (step == 0) {
        throw template_error("range() arg 3 must not be zero");
    }
    const uint64_t distance = step > 0 ? (stop > start ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) : 0)
                                       : (start > stop ? static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) : 0);
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    const uint64_t count  = distance == 0 ? 0 : (distance - 1) / stride + 1;
    // the limit of Jinja's sandbox
    if (count > 100000) {
        throw template_error("range() has more than 100,000 numbers");
    }
    auto out = mk_val<value_array>();
    for (uint64_t i = 0; i < count; ++i) {
        out->push_back(of(integer(static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step)))));
    }
    return out;
}

const builtin_table & functions() {
    static const builtin_table table = {
        {"dict", make_dict}, {"namespace", make_namespace}, {"raise_exception", raise_exception},
        {"range", range}, {"strftime_now", strftime_now},
    };
    return table;
}

value global_of(const std::string & name) {
    const auto found = functions().find(name);
    if (found != functions().end()) {
        return mk_val<value_func>(name, found->second);
    }
    if (name == "cycler" || name == "joiner" || name == "lipsum") {
        throw template_error(unknown("function", name, {"cycler", "joiner", "lipsum"}));
    }
    return nullptr;
}

} // namespace jinja
