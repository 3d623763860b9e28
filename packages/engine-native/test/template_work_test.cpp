// Every filter, test, method, function, operator, statement and slice of the template engine counts its work: with a long value, each
// ends at a small limit that the same with a short value is far from. The names come from the engine's own tables.
#include "check.h"

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jinja/builtins.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"

namespace {

constexpr uint64_t kUnits = 50'000;
constexpr int64_t kLong = 100'000;
constexpr int64_t kShort = 4;

using jinja::integer;
using jinja::of;
using Value = jinja::value;

Value list_of(int64_t count, bool is_tuple = false) {
    auto list = jinja::mk_val<jinja::value_array>(is_tuple);
    for (int64_t i = 0; i < count; ++i) list->push_back(of(integer(i)));
    return list;
}

Value object_of(int64_t count) {
    auto object = jinja::mk_val<jinja::value_object>();
    for (int64_t i = 0; i < count; ++i) object->insert("k" + std::to_string(i), of(integer(i)));
    return object;
}

Value list_with(int64_t count, const Value& item) {
    auto list = jinja::mk_val<jinja::value_array>();
    for (int64_t i = 0; i < count; ++i) list->push_back(item);
    return list;
}

/// The variables of the cases. None of them is larger than what a conversation may have.
void set_variables(jinja::context& context, int64_t size) {
    const int64_t count = std::min<int64_t>(size, 20'000);
    const std::string text(static_cast<size_t>(size), 'x');
    context.set_val("t", of(text));
    context.set_val("u", of(std::string(text)));
    context.set_val("s", of(std::string(static_cast<size_t>(size), ' ')));
    context.set_val("digits", of(std::string(static_cast<size_t>(size), '7')));
    context.set_val("lines", of(std::string(static_cast<size_t>(size), '\n')));
    context.set_val("w", of(integer(size - 1)));
    context.set_val("e", of(integer(std::min<int64_t>(size, 5'000))));
    // A whole number of at most 4,000 digits.
    const auto digits = static_cast<size_t>(std::min<int64_t>(size, 4'000));
    context.set_val("b", of(integer::from_digits(std::string(digits, '7'))));
    context.set_val("l", list_of(count));
    context.set_val("m", list_of(count));
    context.set_val("p", list_of(count, true));
    context.set_val("d", object_of(count));
    context.set_val("o", list_with(count, object_of(2)));
    context.set_val("k", list_with(count, of(std::string("a"))));
    context.set_val("pairs", list_with(count, list_of(2)));
}

struct Execution {
    bool is_over = false;
    uint64_t units = 0;
    std::string error = {};
};

/// Parses without a limit, and runs with one.
Execution execute(const std::string& source, int64_t size) {
    jinja::lexer lexer;
    const jinja::lexer_result tokens = lexer.tokenize(source);
    const jinja::program program = jinja::parse_from_tokens(tokens);
    jinja::context context(tokens.source);
    set_variables(context, size);
    const jinja::work_limit limit(
        {.milliseconds = 20'000, .units = kUnits, .bytes = size_t{256} << 20, .is_cancelled = nullptr});
    Execution result;
    try {
        jinja::runtime(context).execute(program);
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    result.is_over = limit.ended() != nullptr;
    result.units = limit.units_taken();
    return result;
}

/// Expressions by the name of what they use. An empty one does the same work whatever its values are.
using Cases = std::map<std::string, std::string>;

void check_scales(const std::string& source) {
    CAPTURE(source);
    CHECK(execute(source, kLong).is_over);
    const Execution small = execute(source, kShort);
    CAPTURE(small.error);
    CHECK(!small.is_over);
    CHECK(small.units < kUnits / 2);
}

std::string evaluated(const std::string& expression) {
    return "{% set result = " + expression + " %}"; // without writing it, which would count too
}

std::set<std::string> names_of(const Cases& cases) {
    std::set<std::string> names;
    for (const auto& [name, expression] : cases) names.insert(name);
    return names;
}

std::set<std::string> names_of(std::initializer_list<const jinja::builtin_table*> tables) {
    std::set<std::string> names;
    for (const auto* table : tables)
        for (const auto& [name, function] : *table) names.insert(name);
    return names;
}

/// A table's cases are complete, and each ends.
void check_cases(std::initializer_list<const jinja::builtin_table*> tables, const Cases& cases) {
    CHECK_EQ(names_of(cases), names_of(tables));
    for (const auto& [name, expression] : cases) {
        CAPTURE(name);
        if (!expression.empty()) check_scales(evaluated(expression));
    }
}

TEST_CASE("each filter counts its work") {
    const Cases text = {{"capitalize", "t | capitalize"},
                        {"center", "'x' | center(w)"},
                        {"e", "t | e"},
                        {"escape", "t | escape"},
                        {"forceescape", "t | forceescape"},
                        {"format", "'%s' | format(t)"},
                        {"indent", "lines | indent"},
                        {"lower", "t | lower"},
                        {"replace", "t | replace('x', 'y')"},
                        {"safe", "t | safe"},
                        {"string", "l | string"},
                        {"title", "t | title"},
                        {"tojson", "l | tojson"},
                        {"trim", "s | trim"},
                        {"truncate", "t | truncate"},
                        {"upper", "t | upper"},
                        {"wordcount", "t | wordcount"}};
    const Cases lists = {{"attr", ""},
                         {"batch", "l | batch(3)"},
                         {"count", "t | count"},
                         {"dictsort", "d | dictsort"},
                         {"first", "l | first"},
                         {"groupby", "o | groupby('k0')"},
                         {"items", "d | items"},
                         {"join", "l | join"},
                         {"last", "l | last"},
                         {"length", "t | length"},
                         {"list", "l | list"},
                         {"map", "l | map('string')"},
                         {"max", "l | max"},
                         {"min", "l | min"},
                         {"reject", "l | reject('odd')"},
                         {"rejectattr", "o | rejectattr('k0')"},
                         {"reverse", "l | reverse"},
                         {"select", "l | select('odd')"},
                         {"selectattr", "o | selectattr('k0')"},
                         {"slice", "l | slice(3)"},
                         {"sort", "l | sort"},
                         {"sum", "l | sum"},
                         {"unique", "l | unique"}};
    const Cases numbers = {
        {"abs", ""},  {"d", ""}, {"default", ""}, {"float", "digits | float"}, {"int", "digits | int"},
        {"round", ""}};
    check_cases({&jinja::text_filters()}, text);
    check_cases({&jinja::list_filters()}, lists);
    check_cases({&jinja::number_filters()}, numbers);
    for (const char* more :
         {"t | tojson(indent=2)", "d | tojson(sort_keys=true)", "t | reverse", "k | map('upper')",
          "o | map(attribute='k0')", "pairs | map('first')", "k | sort(attribute=none)",
          "pairs | sum(start=[])", "k | join(', ')", "l | batch(w, 0)", "[1] | slice(w)"})
        check_scales(evaluated(more));
}

TEST_CASE("each test counts its work") {
    Cases cases;
    for (const char* constant : {"boolean", "callable", "defined", "divisibleby", "escaped", "even", "false",
                                 "float", "integer", "iterable", "mapping", "none", "number", "odd", "sameas",
                                 "sequence", "string", "true", "undefined"})
        cases.emplace(constant, "");
    for (const char* compared : {"eq", "equalto", "ne", "ge", "gt", "greaterthan", "le", "lt", "lessthan"})
        cases.emplace(compared, std::string("t is ").append(compared).append("(u)"));
    // Tests of these names can only be given to filters.
    for (const char* symbol : {"==", "!=", "<", "<=", ">", ">="})
        cases.emplace(symbol, std::string("[t] | select('").append(symbol).append("', u)"));
    cases.emplace("filter", "t is filter");
    cases.emplace("in", "'y' is in(t)");
    cases.emplace("lower", "t is lower");
    cases.emplace("test", "t is test");
    cases.emplace("upper", "t is upper");
    check_cases({&jinja::tests()}, cases);
    for (const char* more : {"(-1) is in(l)", "(-1) is in(p)", "t is in(d)", "l is eq(m)",
                             "d is eq(d | items | list)", "l is lt(m)", "p is eq(p[:])"})
        check_scales(evaluated(more));
}

TEST_CASE("each method counts its work") {
    Cases texts;
    for (const auto* table : {&jinja::text_methods(), &jinja::search_methods()})
        for (const auto& [name, method] : *table) texts.emplace(name, "t." + name + "()");
    for (const char* name : {"center", "ljust", "rjust", "zfill"})
        texts[name] = std::string("'x'.").append(name).append("(w)");
    for (const char* name : {"isspace", "lstrip", "rstrip", "strip"})
        texts[name] = std::string("s.").append(name).append("()");
    for (const char* name : {"count", "endswith", "find", "index", "partition", "removeprefix",
                             "removesuffix", "rfind", "rindex", "rpartition", "startswith"})
        texts[name] = std::string("t.").append(name).append("('xy')");
    texts["format"] = "t.format(1)";
    texts["format_map"] = "t.format_map({})";
    texts["join"] = "','.join(k)";
    texts["replace"] = "t.replace('x', 'y')";
    texts["split"] = "t.split('x')";
    texts["rsplit"] = "t.rsplit('x')";
    texts["splitlines"] = "lines.splitlines()";
    check_cases({&jinja::text_methods(), &jinja::search_methods()}, texts);
    check_cases({&jinja::object_methods()}, {{"copy", "d.copy()"},
                                             {"get", "d.get(t)"},
                                             {"items", "d.items()"},
                                             {"keys", "d.keys()"},
                                             {"values", "d.values()"}});
    check_cases({&jinja::list_methods()}, {{"append", "l.append(m)"},
                                           {"copy", "l.copy()"},
                                           {"count", "l.count(1)"},
                                           {"index", "l.index(-1)"},
                                           {"pop", "l.pop(0)"}});
    check_cases({&jinja::tuple_methods()}, {{"count", "p.count(1)"}, {"index", "p.index(-1)"}});
    const Cases loops = {{"changed", "loop.changed(l)"}, {"cycle", "loop.cycle(*l)"}};
    CHECK_EQ(names_of(loops), names_of({&jinja::loop_methods()}));
    for (const auto& [name, expression] : loops)
        check_scales("{% for x in [1] %}" + evaluated(expression) + "{% endfor %}");
    for (const char* more :
         {"s.split()", "s.rsplit()", "t.split('x', w)", "t.rsplit('x', w)", "'{0}'.format(t)",
          "'{:>9}'.format(t)", "t.startswith('y', w)", "t.find('y', w)", "t.strip('x')"})
        check_scales(evaluated(more));
}

TEST_CASE("each function counts its work") {
    check_cases({&jinja::functions()}, {{"dict", "dict(d)"},
                                        {"namespace", "namespace(d)"},
                                        {"raise_exception", "raise_exception(t)"},
                                        {"range", "range(w)"},
                                        {"strftime_now", "strftime_now(t)"}});
    for (const char* more : {"dict(pairs)", "dict(**d)", "namespace(**d)", "range(w, 0, -1)"})
        check_scales(evaluated(more));
}

TEST_CASE("each operator and comparison counts its work") {
    // Whole numbers have at most 4,300 digits, so - and / do bounded work.
    const Cases cases = {{"+", "t + u"}, {"-", ""},        {"~", "t ~ u"},    {"*", "t * 2"},
                         {"/", ""},      {"//", "b // 7"}, {"%", "'%s' % t"}, {"**", "7 ** e"}};
    std::set<std::string> operators;
    for (const auto& level : jinja::operator_levels()) operators.insert(level.begin(), level.end());
    CHECK_EQ(names_of(cases), operators);
    for (const auto& [name, expression] : cases)
        if (!expression.empty()) check_scales(evaluated(expression));
    for (const char* comparison : jinja::comparisons())
        check_scales(evaluated(std::string("t ") + comparison + " u"));
    for (const char* more : {"t not in u",
                             "-1 in l",
                             "-1 not in l",
                             "l == m",
                             "l != m",
                             "l < m",
                             "d == (d | items)",
                             "t in d",
                             "l + m",
                             "p + p",
                             "l * 2",
                             "w * 'x'",
                             "2 * l",
                             "b * b",
                             "b % 7",
                             "l ~ ''",
                             "[l] ~ ''",
                             "d ~ ''",
                             "'%d' % b ** 2",
                             "t and t == u",
                             "not (t == u)",
                             "t == u == t",
                             "1 if t == u else 2"})
        check_scales(evaluated(more));
}

TEST_CASE("each slice and item counts its work") {
    for (const char* whole : {"t", "l", "p"})
        for (const char* slice : {"[:]", "[1:]", "[:w]", "[::2]", "[::-1]", "[::-2]", "[-w:]", "[w:0:-1]"})
            check_scales(evaluated(std::string(whole) + slice));
    for (const char* item : {"t[-1]", "d[t]", "d[p]", "{t: 1}[u]"}) check_scales(evaluated(item));
}

TEST_CASE("each statement counts its work") {
    const Cases cases = {
        {"break", "{% for i in l %}{% for j in l %}{% break %}{% endfor %}{% endfor %}"},
        {"call", "{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{{ t }}{% endcall %}"},
        {"continue", "{% for i in l %}{% continue %}{% endfor %}"},
        {"filter", "{% filter trim %}{{ t }}{% endfilter %}"},
        {"for", "{% for i in l %}{% endfor %}"},
        {"generation", "{% generation %}{{ t }}{% endgeneration %}"},
        {"if", "{% if t == u %}{% endif %}"},
        {"macro", "{% macro f() %}{{ t }}{% endmacro %}{{ f() }}"},
        {"print", "{% print t %}"},
        {"set", "{% set a %}{{ t }}{% endset %}"},
        {"with", "{% with a = t %}{{ a }}{% endwith %}"}};
    const std::vector<std::string> names = jinja::statement_names();
    CHECK_EQ(names_of(cases), std::set<std::string>(names.begin(), names.end()));
    for (const auto& [name, source] : cases) check_scales(source);
    for (const char* more :
         {"{{ t }}", "{{ l }}", "{{ d }}", "{% for c in t %}{% endfor %}", "{% for i in d %}{% endfor %}",
          "{% for i in l if i < 0 %}{% endfor %}", "{% for i in l if i < 0 %}{% else %}{% endfor %}",
          "{% for a, b in pairs %}{% endfor %}", "{% for i in l recursive %}{% endfor %}",
          "{% for i in [1] %}{% for j in range(w) %}{{ loop.index }}{% endfor %}{% endfor %}",
          "{% set n = namespace() %}{% set n.a = l %}",
          "{% macro f(a) %}{% endmacro %}{% for i in l %}{{ f(i) }}{% endfor %}",
          "{% macro f() %}{{ varargs | length }}{% endmacro %}{{ f(*l) }}",
          "{% macro f() %}{{ kwargs | length }}{% endmacro %}{{ f(**d) }}", "{% set a, b = l %}",
          "{% set a, (b, c) = 1, l %}", "{% for i in l %}{% set a = i %}{% endfor %}"})
        check_scales(more);
}

TEST_CASE("what reads a text of many parts counts them") {
    // Parts alternate between what the template wrote and what it was given.
    auto mixed = [](int64_t parts) {
        jinja::string text;
        for (int64_t i = 0; i < parts; ++i) text.put("ab", i % 2 == 0);
        return of(text);
    };
    for (const char* source :
         {"{% set x = v[1:3] %}", "{% set x = v.startswith('b') %}", "{% set x = v.strip() %}",
          "{% set x = v.removeprefix('a') %}", "{% set x = v | length %}"}) {
        CAPTURE(source);
        jinja::lexer lexer;
        const jinja::lexer_result tokens = lexer.tokenize(source);
        const jinja::program program = jinja::parse_from_tokens(tokens);
        jinja::context context(tokens.source);
        context.set_val("v", mixed(50'000));
        const jinja::work_limit limit(
            {.milliseconds = 20'000, .units = kUnits, .bytes = size_t{256} << 20, .is_cancelled = nullptr});
        try {
            jinja::runtime(context).execute(program);
        } catch (const std::exception&) {
            // The limit.
        }
        CHECK(limit.ended() != nullptr);
    }
}

TEST_CASE("the memory of what is found in a text is counted") {
    const std::string text(1'000'000, '\n');
    const jinja::work_limit limit(
        {.milliseconds = 20'000, .units = 1'000'000'000, .bytes = size_t{32} << 20, .is_cancelled = nullptr});
    try {
        jinja::lines_of(text, false);
    } catch (const std::exception&) {
        // The limit.
    }
    CHECK(limit.ended() != nullptr);
}

} // namespace
