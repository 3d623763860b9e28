// What the template engine writes, compared with what Jinja 2 wrote for the same expressions and conversations
// (test/__fixtures__/jinja/make_fixtures.py; docs/testing.md).
#include "check.h"
#include "json.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "jinja/builtins.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"

namespace {

/// The clock of the fixtures: 2026-01-02 03:04:05 UTC.
constexpr std::time_t kNow = 1767323045;

std::string read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

common_json fixture(const char* name) {
    return common_json::parse_exact(read(std::filesystem::path(INGLE_JINJA_FIXTURES) / name));
}

struct Rendered {
    std::string text;
    std::string error;
};

Rendered render(const std::string& source, const common_json& variables) {
    const jinja::work_limit limit({.milliseconds = 20'000,
                                   .units = 2'000'000'000,
                                   .bytes = size_t{256} << 20,
                                   .is_cancelled = nullptr});
    try {
        jinja::lexer lexer;
        const jinja::lexer_result tokens = lexer.tokenize(source);
        const jinja::program program = jinja::parse_from_tokens(tokens);
        jinja::context context(tokens.source);
        context.current_time = kNow;
        jinja::global_from_json(context, variables, true);
        return {.text = jinja::runtime(context).execute(program)->as_string().str(), .error = ""};
    } catch (const std::exception& error) {
        return {.text = "", .error = error.what()};
    }
}

std::string fnv1a(const std::string& text) {
    uint64_t hash = 0xCBF29CE484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(hash));
    return digits;
}

/// What is added to an undefined value, as `{{ (a) + (b) }}`; empty if the source is not of that form.
std::string added_to_missing(const std::string& source) {
    const std::string open = "{{ (", plus = ") + (", close = ") }}", missing = "missing";
    const size_t middle = source.find(plus);
    if (!source.starts_with(open) || !source.ends_with(close) || middle == std::string::npos) return "";
    const std::string left = source.substr(open.size(), middle - open.size());
    const size_t start = middle + plus.size();
    const std::string right = source.substr(start, source.size() - close.size() - start);
    if (left == missing) return right;
    return right == missing ? left : "";
}

TEST_CASE("expressions and statements write what Jinja 2 writes, or are an error where it has one") {
    const common_json variables = fixture("variables.json");
    // Statements of Jinja that are refused by name.
    const std::set<std::string> refused = {"{% block a %}x{% endblock %}"};
    const common_json rows = fixture("expressions.expected.json");
    CHECK(rows.size() > 5'000);
    for (const auto& row : rows) {
        const std::string source = row.at(0).get<std::string>();
        const Rendered ours = render(source, variables);
        CAPTURE(source);
        CAPTURE(ours.error);
        const std::string added = added_to_missing(source);
        if (row.at(1).is_null() && !added.empty() && ours.error.empty()) {
            // An undefined value is nothing beside a text.
            CHECK_EQ(ours.text, render("{{ " + added + " }}", variables).text);
        } else if (row.at(1).is_null() || refused.contains(source)) {
            CHECK(ours.error.contains("line "));
        } else {
            CHECK_EQ(ours.error, "");
            CHECK_EQ(ours.text, row.at(1).get<std::string>());
        }
    }
}

TEST_CASE("every template that comes with llama.cpp writes what Jinja 2 writes for each conversation") {
    const common_json conversations = fixture("conversations.json");
    const common_json expected = fixture("templates.expected.json");
    // They append to lists, write an iterator as JSON, or add a missing description or variable to a text, which Jinja's sandbox refuses.
    const std::set<std::string> more = {"Kimi-K2-Instruct", "Kimi-K2-Thinking", "llama-cpp-deepseek-r1",
                                        "CohereForAI-c4ai-command-r-plus-tool_use",
                                        "fireworks-ai-llama-3-firefunction-v2"};
    CHECK_EQ(expected.size(), 70U);
    for (const auto& [name, rows] : expected.items()) {
        const std::string source = read(std::filesystem::path(INGLE_KNOWN_TEMPLATES) / (name + ".jinja"));
        for (const auto& [conversation, row] : rows.items()) {
            const Rendered ours = render(source, conversations.at(conversation));
            CAPTURE(name);
            CAPTURE(conversation);
            CAPTURE(ours.error);
            if (row.at(0).is_null()) {
                CHECK((more.contains(name) || !ours.error.empty()));
            } else {
                CHECK_EQ(ours.error, "");
                CHECK_EQ(fnv1a(ours.text), row.at(0).get<std::string>());
            }
        }
    }
}

TEST_CASE("an error names its line, its column and what failed") {
    const common_json none = common_json::object();
    CHECK_EQ(render("a\nb {{ 'x' | nope }}", none).error,
             "No filter named 'nope' (the filter nope at line 2, column 12)");
    CHECK_EQ(render("{% if x %}\n  {% include 'y' %}{% endif %}", none).error,
             "the statement 'include' is not supported at line 2, column 3");
    CHECK_EQ(render("{{ missing.a }}", none).error,
             "'missing' is undefined (an attribute at line 1, column 11)");
}

TEST_CASE("a slice whose step would overflow has one item") {
    auto list = jinja::mk_val<jinja::value_array>();
    for (int i = 0; i < 100; ++i) list->push_back(jinja::of(jinja::integer(i)));
    for (const int64_t step : {INT64_MAX, INT64_MIN, INT64_MAX - 1}) {
        const jinja::value stride = jinja::of(jinja::integer(step));
        CHECK_EQ(jinja::length_of(jinja::slice_of(list, nullptr, nullptr, stride)), 1U);
    }
}

} // namespace
