// Chat templates that were made to take all time, all memory or the process: each is an error, soon. Templates that are
// known take far less than they may, and write what they wrote without bounds.
#include "check.h"
#include "llama/backend/assertions.h"
#include "llama/chat/chat_template.h"
#include "llama/chat/conversation.h"
#include "log.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "chat.h"

namespace {

using llama::template_allowance;

using test::kIsSanitized;

/// Messages of a long chat. Some templates take quadratic time, and a template's time is limited, with a sanitizer too.
constexpr int kLongChat = kIsSanitized ? 31 : 101;

std::string repeated(const std::string& text, int times) {
    std::string whole;
    for (int i = 0; i < times; ++i) whole += text;
    return whole;
}

/// Bytes that the process has held at most since the last call, where the system tells.
int64_t peak_bytes() {
    int64_t peak = 0;
#ifdef __linux__
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) peak = 1024 * std::stoll(line.substr(6));
    std::ofstream("/proc/self/clear_refs") << "5";
#endif
    return peak;
}

llama::Chat conversation(int messages, int tools) {
    llama::Chat chat;
    for (int i = 0; i < messages; ++i) {
        const bool is_user = i % 2 == 0;
        chat.messages.push_back({.role = is_user ? "user" : "assistant",
                                 .content = "What is the weather in Rome, and why is it so?",
                                 .parts = {},
                                 .reasoning = is_user ? "" : "It may rain.",
                                 .tool_calls = {},
                                 .tool_call_id = {},
                                 .name = {}});
    }
    for (int i = 0; i < tools; ++i) {
        std::string name = std::string("tool_").append(std::to_string(i));
        chat.tools.push_back({.name = std::move(name),
                              .description = "The weather of a city",
                              .parameters = R"({"type":"object","properties":{"city":{"type":"string"}}})"});
    }
    return chat;
}

common_chat_templates_inputs inputs_of(const llama::Chat& chat) {
    common_chat_templates_inputs inputs;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    for (const auto& message : chat.messages) {
        common_chat_msg out;
        out.role = message.role;
        out.content = message.content;
        out.reasoning_content = message.reasoning;
        inputs.messages.push_back(std::move(out));
    }
    for (const llama::Tool& tool : chat.tools)
        inputs.tools.push_back(
            {.name = tool.name, .description = tool.description, .parameters = tool.parameters});
    return inputs;
}

/// What a template takes of what it may for one conversation, and what it writes.
struct Rendering {
    std::string text = {};
    /// Why it failed; empty when it did not.
    std::string error = {};
    double share_of_work = 0;
    double share_of_memory = 0;
};

Rendering render(const std::string& source, const llama::Chat& chat, const std::atomic<bool>& is_aborted) {
    common_log_pause(common_log_main()); // what fails is logged there
    const llama::AssertionsThrow assertions_throw;
    Rendering run;
    common_chat_templates_ptr templates;
    try {
        const jinja::work_limit limit(template_allowance({}, is_aborted));
        templates = common_chat_templates_init(nullptr, source);
    } catch (const std::exception& error) {
        run.error = error.what();
        return run;
    }
    const jinja::work_allowance allowance = template_allowance(chat, is_aborted);
    const jinja::work_limit limit(allowance);
    try {
        run.text = common_chat_templates_apply(templates.get(), inputs_of(chat)).prompt;
    } catch (const std::exception& error) {
        run.error = error.what();
    }
    run.share_of_work = static_cast<double>(limit.units_taken()) / static_cast<double>(allowance.units);
    run.share_of_memory = static_cast<double>(limit.bytes_taken()) / static_cast<double>(allowance.bytes);
    return run;
}

Rendering render(const std::string& source) {
    const std::atomic<bool> is_aborted = false;
    return render(source, conversation(1, 1), is_aborted);
}

void check_is_bounded(const std::string& source) {
    CAPTURE(source.substr(0, 300));
    const int64_t before = peak_bytes();
    const std::clock_t begin = std::clock();
    const Rendering outcome = render(source);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK(!outcome.error.empty());
    CHECK(seconds < (kIsSanitized ? 60 : 3));
    if (!kIsSanitized) CHECK(peak_bytes() - before < int64_t{512} * 1024 * 1024);
}

/// A million times, each time on what `setup` has made.
std::string million(const std::string& setup, const std::string& expression) {
    return setup + "{% for i in range(1000) %}{% for j in range(1000) %}{% if " + expression +
           " %}{% endif %}{% endfor %}{% endfor %}";
}

/// Doubles something sixty times.
std::string doubled(const std::string& first, const std::string& next) {
    return "{% set ns = namespace(v=" + first + ") %}{% for i in range(60) %}{% set ns.v = " + next +
           " %}{% endfor %}";
}

const std::string kText =
    R"({% set ns = namespace(t="xxxxxxxxxxxxxxxx") %}{% for i in range(17) %})"
    R"({% set ns.t = (ns.t ~ ns.t) | replace("y", "z") %}{% endfor %}{% set t = ns.t %})";
const std::string kParts = R"({% set t = "x" * 100000 %})";
const std::string kList = "{% set l = range(20000) | list %}";
const std::string kObjects = R"({% set l = [] %}{% for i in range(10000) %})"
                             R"({% set _ = l.append({"a": i, "b": "x"}) %}{% endfor %})";

std::string object_setup() {
    std::string keys;
    for (int i = 0; i < 2000; ++i) {
        const std::string number = std::to_string(i);
        keys.append("\"k").append(number).append("\": ").append(number).append(", ");
    }
    return "{% set o = {" + keys + "} %}";
}

TEST_CASE("a template that looks at a long text again and again is an error") {
    for (const char* expression : {"t | upper",
                                   "t | lower",
                                   "t | title",
                                   "t | capitalize",
                                   "t | trim",
                                   "t | length",
                                   "t | string",
                                   "t | int",
                                   "t | float",
                                   "t | tojson",
                                   "t | tojson(ensure_ascii=true)",
                                   "t | tojson(indent=4)",
                                   "t | safe",
                                   "t | default(1, true)",
                                   "t | indent(4)",
                                   "t.strip('abcdefgh')",
                                   "t.lstrip('x')",
                                   "t.rstrip('x')",
                                   "t.startswith('x')",
                                   "t.endswith(t)",
                                   "t.split('x')",
                                   "t.split('xy')",
                                   "t.rsplit('x')",
                                   "t.rsplit('xy')",
                                   "t.replace('x', 'yy')",
                                   "t.replace('', 'y')",
                                   "t.replace(t, 'y')",
                                   "t.format()",
                                   "t is lower",
                                   "t is upper",
                                   "t is eq(t ~ 'y')",
                                   "t is ge(t)",
                                   "t is in(t)",
                                   "t == t ~ 'y'",
                                   "'xy' in t",
                                   "t in (t ~ 'y')",
                                   "t[5]",
                                   "t[1:5]",
                                   "t[::-1]",
                                   "t * 2",
                                   "t ~ 1",
                                   "not t"})
        check_is_bounded(million(kText, expression));
    for (const char* expression : {"t", "t | upper", "t in t", "t == t", "t | trim", "t ~ 'y'"})
        check_is_bounded(million(kParts, expression));
}

TEST_CASE("a template that goes through long lists and objects again and again is an error") {
    for (const char* expression : {"l | list",
                                   "l | reverse",
                                   "l | sort",
                                   "l | min",
                                   "l | max",
                                   "l | string",
                                   "l | tojson(indent=4)",
                                   "l | join(',')",
                                   "l | map(attribute='a')",
                                   "l | select('eq', 5)",
                                   "l | reject('lt', 5)",
                                   "l is in([l])",
                                   "0.5 in l",
                                   "l + l",
                                   "l == l",
                                   "l[1:]",
                                   "l[::-1]",
                                   "l[::9223372036854775807]",
                                   "l[::-9223372036854775808]",
                                   "l.append(1)",
                                   "l.append(l + l)",
                                   "l.pop(0)",
                                   "l ~ ''"})
        check_is_bounded(million(kList, expression));
    for (const char* expression :
         {"l | selectattr('a')", "l | rejectattr('b', 'equalto', 'x')", "l | map(attribute='c', default='x')",
          "l | sort(attribute='a')", "l | join(',', attribute='a')"})
        check_is_bounded(million(kObjects, expression));
    for (const char* expression :
         {"o | dictsort", "o | dictsort(by='value')", "o.items()", "o.keys()", "o.values()", "o.get('k1')",
          "'k1' in o", "o | tojson", "o | string", "o == o", "o.k7"})
        check_is_bounded(million(object_setup(), expression));
}

TEST_CASE("a template whose texts, lists and objects grow is an error") {
    for (const char* next :
         {"ns.v ~ ns.v", "ns.v * 3", "[ns.v, ns.v] | join(ns.v)", "ns.v | replace('', ns.v)",
          "ns.v | replace('x', 'xxx')", "'{}{}{}'.format(ns.v, ns.v, ns.v)",
          "ns.v | indent(ns.v ~ ns.v, true)", "ns.v | upper ~ (ns.v | lower)", "ns.v ~ [ns.v]",
          "[ns.v, ns.v] | tojson", "[ns.v] | tojson(separators=[ns.v, ns.v], indent=4)"})
        check_is_bounded(doubled("'x'", next));
    check_is_bounded(doubled("[1]", "ns.v + ns.v"));
    for (const char* use : {"ns.v | tojson", "ns.v | string", "ns.v == ns.v", "ns.v in [ns.v]", "{ns.v: 1}",
                            "ns.v in {}", "ns.v | sort | list == ns.v"})
        check_is_bounded(doubled("(1, 2)", "(ns.v, ns.v)") + "{% if " + use + " %}{% endif %}" +
                         million("", "1"));
    check_is_bounded(doubled("[]", "[ns.v, ns.v]") + "{{ ns.v }}");
    for (const char* kept : {"[1, 2, 3]", "'x' * 1000", "{'a': 1}", "t | upper", "caller"})
        check_is_bounded(
            "{% set t = 'x' * 100 %}{% set ns = namespace(l=[]) %}{% macro m() %}{% set _ = ns.l.append(" +
            std::string(kept) +
            ") %}{% endmacro %}{% for i in range(1000) %}{% for j in range(1000) %}"
            "{% call m() %}x{% endcall %}{% endfor %}{% endfor %}");
}

TEST_CASE("one call of a template that takes too much is an error") {
    const std::string text = kText + "{% set t = t ~ t ~ t %}";
    for (const char* expression :
         {"range(1000000000) | length", "range(1000000000, 0, -1) | length", "'x' * 100000000000",
          "'' * 100000000000", "'a' | indent(100000000000, true)", "[1] | tojson(indent=2000000000)",
          "[[[[1]]]] | tojson(indent=1000000000)", "range(100000) | join(t)", "t.replace('x', t)",
          "[t, t, t, t, t, t, t, t, t] | join(t)", "'{}{}{}{}{}{}{}'.format(t, t, t, t, t, t, t)",
          "t.split('x')", "(t ~ 'y') in (t ~ t)", "(t ~ t).split(t ~ 'y')", "(t ~ t).rsplit('y' ~ t)",
          "(t ~ t).replace(t ~ 'y', '')", "t.strip('abcdefghijkl' * 10000)",
          "(t ~ 'é') | replace('x', 'é') | tojson(ensure_ascii=true)", "raise_exception(t)"})
        check_is_bounded(text + "{{ " + expression + " }}{{ 1 / 0 }}");
}

TEST_CASE("a division by zero, and what a number has no room for, is an error or a number") {
    for (const char* expression : {"1 is divisibleby(0)", "5 % 0", "5 / 0", "5 % 0.0", "0 / 0"})
        CHECK(!render("{{ " + std::string(expression) + " }}").error.empty());
    for (const char* expression :
         {"-9223372036854775808 is divisibleby(-1)", "-9223372036854775808 | abs", "-(-9223372036854775808)",
          "range(9223372036854775800, 9223372036854775807, 5) | length", "4000000000 * 4000000000",
          "range(-9223372036854775800, -9223372036854775808, -9223372036854775808) | length"}) {
        CAPTURE(expression);
        CHECK_EQ(render("{{ " + std::string(expression) + " }}").error, "");
    }
}

TEST_CASE("a template that nests or loops without end is an error") {
    const std::string again = "{% macro m() %}";
    const std::string end = "{% endmacro %}{{ m() }}";
    for (const char* body :
         {"{{ m() }}", "{{ m() | upper }}", "{{ m()[m()] }}", "{{ {'a': m()} }}", "{% set a = m() %}",
          "{% for a in [1] %}{{ m() }}{% endfor %}", "{% for a in [1] if m() %}{% endfor %}",
          "{% call m() %}{{ caller() }}{% endcall %}", "{% filter upper %}{{ m() }}{% endfilter %}"})
        check_is_bounded(again + body + end);
    for (const auto& [begin, middle, rest] : {std::tuple{"(", "1", ")"},
                                              {"not ", "1", ""},
                                              {"- ", "1", ""},
                                              {"", "1", " + 1"},
                                              {"", "a", "()"},
                                              {"", "a", ".a"},
                                              {"", "a", "[1]"},
                                              {"", "'a'", "|e"},
                                              {"", "a", " is b"},
                                              {"[", "1", "]"},
                                              {"", "1", " and 1"},
                                              {"1 if 0 else ", "1", ""}})
        check_is_bounded("{{ " + repeated(begin, 5'000) + middle + repeated(rest, 8'000) + " }}");
    check_is_bounded("{% if 0 %}" + repeated("{% elif 0 %}", 4'000) + "{% endif %}");
    check_is_bounded(repeated("{% for a in [1,2,3,4,5,6,7,8,9] %}", 9) + repeated("{% endfor %}", 9));
    check_is_bounded(million("{% set " + repeated("a", 30'000) + " = 1 %}", repeated("b", 30'000)));
    check_is_bounded(million("{% set n = namespace() %}", "strftime_now('%Y') ~ namespace(a=1)"));
    check_is_bounded(million("", "1 < 0.5 and range(3) | length > 5"));
}

TEST_CASE("a template whose values nest without end, or hold themselves, is an error") {
    for (const char* next : {"[ns.l]", "{'a': ns.l}", "[ns.l.append]", "{'a': [(ns.l, 1)]}"})
        check_is_bounded("{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = " +
                         std::string(next) + " %}{% endfor %}");
    check_is_bounded("{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set n = [] %}"
                     "{% set _ = n.append(x=ns.l) %}{% set ns.l = n %}{% endfor %}");
    for (const char* itself : {"l", "[1, l]", "l.append", "a=l", "{'a': [(l, 1)]}"})
        check_is_bounded("{% set l = [] %}{% set _ = l.append(" + std::string(itself) + ") %}");
    check_is_bounded("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns | tojson }}");
}

TEST_CASE("a caller that is kept after its call holds no variables, itself least of all") {
    CHECK_EQ(render("{% set l = [] %}{% macro m() %}{% set _ = l.append([caller]) %}{% endmacro %}"
                    "{% call m() %}x{% endcall %}done")
                 .error,
             "");
}

TEST_CASE("what a template writes around calls, and JSON that it nests, is an error or no syntax at all") {
    const auto calls = [](const std::string& before, const std::string& after) {
        return "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}" + before +
               "{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}" +
               after + "{% endfor %}{% endfor %}{{ tools | tojson }}";
    };
    CHECK(!render(calls("<call{{ 'x' * 9000 }}>", "</call{{ 'x' * 9000 }}>")).error.empty());
    CHECK_EQ(render(calls("<call>", "</call>")).error, "");
    for (const char* piece : {"<a>", "<a>xyz[b]", "[", "{\\\"a\\\":"}) {
        CAPTURE(piece);
        const std::clock_t begin = std::clock();
        render(calls("{{ \"" + std::string(piece) + "\" * 20000 }}", "{{ '}' * 20000 }}"));
        render("{{ \"" + std::string(piece) + "\" * 100000 }}" + calls("", "") + "{{ '</a>' * 100000 }}");
        CHECK(std::clock() - begin < (kIsSanitized ? 60 : 3) * CLOCKS_PER_SEC);
    }
}

TEST_CASE("a template ends soon after nobody wants its text any more") {
    std::atomic<bool> is_aborted = false;
    std::atomic<std::clock_t> aborted_at = 0;
    const std::clock_t begin = std::clock();
    const std::jthread other([&] {
        while (std::clock() - begin <
               CLOCKS_PER_SEC / 5) // it is at work by then, however busy the machine is
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        aborted_at = std::clock();
        is_aborted = true;
    });
    // Long enough that it may run for seconds.
    const std::string source =
        "{% if messages | length > 9 %}" + million("", "'a' ~ 'b' == 'c'") + "{% endif %}";
    const Rendering outcome = render(source, conversation(600, 0), is_aborted);
    const double late = static_cast<double>(std::clock() - aborted_at) / CLOCKS_PER_SEC;
    CHECK(outcome.error.contains("nobody waits"));
    CHECK(late < (kIsSanitized ? 1.0 : 0.05));
}

TEST_CASE("templates that are known take a tenth of what they may") {
    int known = 0;
    const std::atomic<bool> is_aborted = false;
    for (const auto& file : std::filesystem::directory_iterator(INGLE_KNOWN_TEMPLATES)) {
        if (file.path().extension() != ".jinja") continue;
        std::ostringstream source;
        source << std::ifstream(file.path()).rdbuf();
        for (const auto& [messages, tools] : {std::pair{1, 8}, {31, 8}, {kLongChat, 0}}) {
            const Rendering outcome = render(source.str(), conversation(messages, tools), is_aborted);
            CAPTURE(file.path().filename().string());
            CAPTURE(messages);
            CHECK_EQ(outcome.error, "");
            CHECK(outcome.share_of_work < 0.1);
            CHECK(outcome.share_of_memory < 0.1);
        }
        known += 1;
    }
    CHECK(known > 50);
}

TEST_CASE("a template writes what it wrote without bounds") {
    const std::vector<std::pair<const char*, const char*>> written = {
        {"'a,b,,c'.split(',') | string", "['a', 'b', '', 'c']"},
        {"'a,b,c'.split(',', 1) | string", "['a', 'b,c']"},
        {"'a b'.split() | string", "['a', 'b']"},
        {"',a,'.split(',') | string", "['', 'a', '']"},
        {"'abc'.split('x') | string", "['abc']"},
        {"'aaa'.split('aa') | string", "['', 'a']"},
        {"'a,b,c'.rsplit(',', 1) | string", "['a,b', 'c']"},
        {"'a,b,c'.split(',', 0) | string", "['a,b,c']"},
        {"'aaa'.replace('aa', 'b')", "ba"},
        {"'abc'.replace('', '-')", "-a-b-c-"},
        {"'abc'.replace('b', 'bb')", "abbc"},
        {"'a\nb\n\nc' | indent(2)", "a\n  b\n\n  c"},
        {"'a\nb\n' | indent('> ', true)", "> a\n> b\n"},
        {"'a\n\nb' | indent(1, true, true)", " a\n \n b"},
        {"[1, 'a', 2.5] | join('-')", "1-a-2.5"},
        {"[1, [2, {'a': none}], 'x\"y'] | tojson", "[1, [2, {\"a\": null}], \"x\\\"y\"]"},
        {"{'a': [1, 2.5]} | tojson(indent=2)", "{\n  \"a\": [\n    1,\n    2.5\n  ]\n}"},
        {"'é😀' | tojson(ensure_ascii=true)", "\"\\u00e9\\ud83d\\ude00\""},
        {"[1, 'a', (2, 3), {'b': true}]", "[1, 'a', (2, 3), {'b': True}]"},
        {"[1, 'a', (2, 3), {'b': true}] | string", "[1, 'a', (2, 3), {'b': True}]"},
        {"'{} and {}'.format(1, 'b')", "1 and b"},
        {"range(2, 9, 3) | list | string", "[2, 5, 8]"},
        {"range(3, 0, -2) | list | string", "[3, 1]"},
        {"range(9223372036854775800, 9223372036854775807, 5) | length", "2"},
        {"[3, 1, 2] | sort | string", "[1, 2, 3]"},
        {"{'b': 1, 'a': 2} | dictsort | string", "[('a', 2), ('b', 1)]"},
        {"'aXb'.strip('ab')", "X"},
        {"['ab' in 'cabd', 'x' in 'abc', '' in 'a', 'abc' in 'ab']", "[True, False, True, False]"},
        {"'abcdef'[1:5:2] ~ 'abc'[::-1] ~ 'abc'[1]", "bdcbab"},
        {"[7 % 3, 7 / 2, -7 % 3]", "[1, 3.5, 2]"},
        {"[6 is divisibleby(3), 6 is divisibleby(4), 6 is divisibleby(-1)]", "[True, False, True]"},
    };
    for (const auto& [expression, text] : written) {
        CAPTURE(expression);
        const Rendering outcome = render("{{ " + std::string(expression) + " }}");
        CHECK_EQ(outcome.error, "");
        CHECK_EQ(outcome.text, text);
    }
}

} // namespace
