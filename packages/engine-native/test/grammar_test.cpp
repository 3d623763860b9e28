// Grammars: what they let through, what is refused before anything is matched, and that neither takes long, whoever
// wrote them.
#include "grammar/grammar.h"

#include "check.h"
#include "grammars_under_test.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using grammar::GrammarState;
using test::matches;
using test::problem_of;
using test::rules_of;

namespace {

std::string repeat(std::string_view text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i) all += text;
    return all;
}

bool says(const std::string& problem, std::string_view words) {
    return problem.find(words) != std::string::npos;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts) all += part;
    return all;
}

double seconds_of(auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

TEST_CASE("literals, classes and alternatives match what they say") {
    const char* grammar = R"(root ::= "ab" [c-e] [^x-z] . | "\x41\u00e9\U0001F600\n\"")";
    CHECK(matches(grammar, "abdw!"));
    CHECK(matches(grammar, "abc\xC3\xA9\xE2\x82\xAC"));
    CHECK(matches(grammar, "A\xC3\xA9\xF0\x9F\x98\x80\n\""));
    CHECK_FALSE(matches(grammar, "abfw!"));
    CHECK_FALSE(matches(grammar, "abdx!"));
    CHECK_FALSE(matches(grammar, "abdw"));
    CHECK_FALSE(matches(grammar, "abdw!!"));
}

TEST_CASE("groups, comments and rules over several lines are read as llama.cpp reads them") {
    const char* grammar = "# a list\nroot ::= item (\",\" # comma\n  item)*\nitem ::= [0-9]+ |\n \"x\"\n\n";
    CHECK(matches(grammar, "1,22,x"));
    CHECK_FALSE(matches(grammar, "1,,2"));
    CHECK(matches("root ::= [a-] [\\]\\-] \"\"", "a]"));
    CHECK(matches("root ::= [a-] [\\]\\-] \"\"", "--"));
}

TEST_CASE("repetitions count exactly, also beyond what could be written out") {
    CHECK(matches("root ::= \"a\"{2,3}", "aa"));
    CHECK(matches("root ::= \"a\"{2,3}", "aaa"));
    CHECK_FALSE(matches("root ::= \"a\"{2,3}", "a"));
    CHECK_FALSE(matches("root ::= \"a\"{2,3}", "aaaa"));
    CHECK(matches("root ::= \"ab\"{2}", "abab"));
    CHECK(matches("root ::= \"a\"{2,} \"b\"?", "aaaaaab"));
    CHECK(matches("root ::= [ab]{0,100000}", repeat("ab", 50'000)));
    CHECK_FALSE(matches("root ::= [ab]{0,100000}", joined({repeat("ab", 50'000), "a"})));
    CHECK(matches("root ::= (\"a\"{1,2} \"b\"){3}", "abaabab"));
    CHECK_FALSE(matches("root ::= (\"a\"{1,2} \"b\"){3}", "abaaab"));
    CHECK(matches("root ::= (\"a\"?)* \"b\"{0}", "aa"));
    CHECK(matches("root ::= (\"a\"?){5}", "aa"));
    CHECK_FALSE(matches("root ::= (\"a\"?){5}", "aaaaaa"));
}

TEST_CASE("either of two grammars has the texts of both, and no mixture of them") {
    const auto one = rules_of("root ::= \"pre\" gap word\ngap ::= [ ]{0,3}\nword ::= \"{\" [a-z]* \"}\"");
    const auto other = rules_of("root ::= \"pre\" call+\ncall ::= \"<\" [0-9] \">\" more?\nmore ::= \"!\"");
    const auto either = std::make_shared<const grammar::Rules>(grammar::either_of(*one, *other));
    const auto has = [&](std::string_view text) {
        grammar::GrammarState state(either);
        return state.accept_text(text) && state.may_end();
    };
    for (const char* text : {"pre{abc}", "pre   {}", "pre<1>", "pre<1>!<2>"}) CHECK(has(text));
    for (const char* text : {"pre", "pre<a>", "pre{abc}<1>", "pre <1>"}) CHECK_FALSE(has(text));
}

TEST_CASE("a grammar has no texts when each of them would need one that never ends") {
    const auto has = [](std::string_view text) { return grammar::has_texts(*rules_of(text)); };
    CHECK(has("root ::= \"a\" more*\nmore ::= \"x\" more"));
    CHECK(has("root ::= more | \"\"\nmore ::= \"x\" more"));
    CHECK(has("root ::= item{2,3}\nitem ::= [a-z] | more\nmore ::= \"x\" more"));
    CHECK_FALSE(has("root ::= \"a\" more\nmore ::= \"x\" more"));
    CHECK_FALSE(has("root ::= (\"a\" | \"b\") more{1,4}\nmore ::= [x] more"));
}

TEST_CASE("any text has a literal") {
    for (const char* text : {"", "a\"b\\c", "two\n lines\r\n\tand a tab", "größe"})
        CHECK(matches(std::string("root ::= \"<\" ").append(grammar::gbnf_literal(text)).append(" \">\""),
                      std::string("<").append(text).append(">")));
}

TEST_CASE("rules may call themselves behind a character") {
    const char* grammar = R"g(root ::= "(" root ")" | "x")g";
    CHECK(matches(grammar, joined({repeat("(", 5'000), "x", repeat(")", 5'000)})));
    CHECK_FALSE(matches(grammar, "((x)"));
}

TEST_CASE("a character in parts is allowed as long as it can become one that is") {
    const auto rules = test::rules_of("root ::= [\\u00e9\\u4e2d]");
    GrammarState state(rules);
    CHECK(state.allows(5, "\xC3"));
    CHECK(state.allows(5, "\xE4\xB8"));
    CHECK_FALSE(state.allows(5, "\xC4"));
    CHECK_FALSE(state.allows(5, "\xE4\xB9"));
    CHECK_FALSE(state.allows(5, "\xFF"));
    CHECK(state.accept(5, "\xE4"));
    CHECK_FALSE(state.may_end());
    CHECK_FALSE(state.allows(5, "a"));
    CHECK(state.accept(5, "\xB8\xAD"));
    CHECK(state.must_end());
    // A class that leaves out one character leaves in those whose first bytes are the same.
    CHECK(GrammarState(test::rules_of("root ::= [^\\u00e9]")).allows(5, "\xC3"));
}

TEST_CASE("overlong forms and surrogates are no characters") {
    GrammarState state(test::rules_of("root ::= . ."));
    CHECK_FALSE(state.allows(5, "\xC0\x80"));
    CHECK_FALSE(state.allows(5, "\xE0\x80\x80"));
    CHECK_FALSE(state.allows(5, "\xED\xA0\x80"));
    CHECK_FALSE(state.allows(5, "\xF4\x90\x80\x80"));
}

TEST_CASE("a token can be asked for by name, by number, and by any other") {
    GrammarState state(test::rules_of("root ::= <think> !<[1]> <[7]> \"a\""));
    CHECK_FALSE(state.allows(2, "<think>"));
    CHECK(state.accept(1, "<think>"));
    CHECK_FALSE(state.allows(1, "<think>"));
    CHECK(state.accept(3, "x"));
    CHECK(state.accept(7, "whatever"));
    CHECK(state.accept(8, "a"));
    CHECK(state.must_end());
    CHECK(says(problem_of("root ::= <two words>"), "<two words> is not one token"));
}

TEST_CASE("what is wrong with a grammar is said with its line") {
    CHECK(says(problem_of(""), "no rule \"root\""));
    CHECK(says(problem_of("x ::= \"a\""), "no rule \"root\""));
    CHECK(says(problem_of("root ::= \"a\"\nroot ::= \"b\""), "defined twice (line 2)"));
    CHECK(says(problem_of("root ::= unknown"), "\"unknown\" is used but not defined"));
    CHECK(says(problem_of("root ::= \"a"), "ends inside a literal or a character class"));
    CHECK(says(problem_of("root ::= [a"), "ends inside a literal or a character class"));
    CHECK(says(problem_of("root ::= [z-a]"), "reversed"));
    CHECK(says(problem_of("root ::= \"\\q\""), "escape"));
    CHECK(says(problem_of("root ::= \"\\uD8\""), "4 hexadecimal digits"));
    CHECK(says(problem_of("root ::= ("), ") is missing"));
    CHECK(says(problem_of("root ::= *"), "nothing to repeat"));
    CHECK(says(problem_of("root ::= \"a\"{3,2}"), "maximum is less than its minimum"));
    CHECK(says(problem_of("root ::= \"a\"{99999999999999999999}"), "too large"));
    CHECK(says(problem_of("root = \"a\""), "::= is missing"));
    CHECK(says(problem_of("root ::= \"a\" ) x"), "must end at the end of a line"));
    CHECK(says(problem_of(std::string("root ::= \0", 10)), "must end at the end of a line"));
}

TEST_CASE("left recursion is refused, open or hidden behind what may be empty") {
    CHECK(says(problem_of("root ::= root \"a\" | \"b\""), "begins with itself"));
    CHECK(says(problem_of("root ::= a\na ::= b \"x\"\nb ::= a | \"y\""), "begins with itself"));
    CHECK(says(problem_of("root ::= e e root\ne ::= f\nf ::= \"x\"?"), "begins with itself"));
    CHECK(says(problem_of("root ::= (root | \"a\")*"), "begins with itself"));
    CHECK(problem_of("root ::= \"a\" root | \"\"") == "");
}

TEST_CASE("grammars that were made to hang or to crash are answered quickly") {
    const double seconds = seconds_of([] {
        CHECK(says(problem_of(joined({"root ::= ", repeat("(", 60'000), "\"a\"", repeat(")", 60'000)})),
                   "nested too deeply"));
        CHECK(says(problem_of(joined({"root ::= ", repeat("(", 60'000)})), "nested too deeply"));
        CHECK(problem_of(joined({"root ::= ", repeat("(", 900), "\"a\"", repeat(")", 900)})) == "");
        CHECK(says(problem_of(joined({"root ::= \"", repeat("a", 3'000'000), "\""})), "too large"));
        CHECK(says(problem_of("root ::= (\"a\"?){1000000}"), "may be empty"));
        std::string chain = "root ::= r0\n";
        for (int i = 0; i < 50'000; ++i)
            chain += joined({"r", std::to_string(i), " ::= r", std::to_string(i + 1), "\n"});
        CHECK(problem_of(chain + "r50000 ::= \"\"") == "");
        CHECK(says(problem_of(chain + "r50000 ::= root"), "begins with itself"));
    });
    CHECK(seconds < 10);
}

TEST_CASE("a grammar that doubles its places with each character is given up, not followed forever") {
    const double seconds = seconds_of([] {
        GrammarState state(test::rules_of("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"d\""));
        for (int i = 0; i < 100 && !state.is_overrun(); ++i) state.accept(5, "a");
        CHECK(state.is_overrun());
        CHECK_FALSE(state.allows(5, "a"));
        std::string tree;
        for (int i = 0; i < 40; ++i) {
            const std::string next = joined({"r", std::to_string(i + 1)});
            const std::string name = i == 0 ? std::string("root") : joined({"r", std::to_string(i)});
            tree += joined({name, " ::= ", next, " \"x\" | ", next, " \"y\"\n"});
        }
        CHECK(GrammarState(test::rules_of(tree + "r40 ::= \"z\"")).is_overrun());
    });
    CHECK(seconds < (test::kIsSanitized ? 200 : 20));
}

TEST_CASE("a long text leaves nothing behind") {
    GrammarState state(test::rules_of("root ::= (\"[\" root? \"]\" | [a-z] [0-9]{3,5})*"));
    for (int i = 0; i < 20'000; ++i) REQUIRE(state.accept(5, i % 3 == 0 ? "[[]x123]" : "a1234"));
    CHECK(state.may_end());
}
