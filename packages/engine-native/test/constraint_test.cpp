// Sampling under a grammar: the distribution is the one without it, restricted to what is allowed; where nothing is
// allowed the sampler says so; and grammars that begin later leave the text before alone.
#include "grammar/constraint.h"

#include "check.h"
#include "grammars_under_test.h"
#include "sampler_chain.h"
#include "sampling/sampler.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

using base::Token;
using sampling::Candidates;
using sampling::Continuation;
using sampling::Sampler;
using sampling::Sampling;

namespace {

const std::vector<std::string> kTexts = {"a", "b", "c", "d", "e", "f", "1", "2", "3", "4"};
const int32_t kSize = static_cast<int32_t>(kTexts.size()) + 2;

Token token_of(std::string_view text) {
    for (size_t i = 0; i < kTexts.size(); ++i) {
        if (kTexts[i] == text) return static_cast<Token>(i) + 2;
    }
    return -1;
}

std::vector<float> some_logits() {
    std::vector<float> logits;
    for (int32_t i = 0; i < kSize; ++i) logits.push_back(static_cast<float>((i * 7) % 11) * 0.4F);
    return logits;
}

/// How often each token comes first, over many seeds.
std::map<Token, double> frequencies(const Sampling& plain,
                                    const std::shared_ptr<const grammar::Constraint>& constraint, int draws) {
    std::map<Token, double> counts;
    Candidates candidates;
    for (int i = 0; i < draws; ++i) {
        Sampling sampling = plain;
        sampling.seed = static_cast<uint32_t>(i);
        Sampler sampler({kSize}, sampling, {}, constraint);
        std::vector<float> logits = some_logits();
        counts[sampler.sample(logits.data(), candidates)] += 1.0 / draws;
    }
    return counts;
}

void check_restricted(const Sampling& sampling, std::string_view grammar) {
    constexpr int kDraws = 40'000;
    const auto free = frequencies(sampling, nullptr, kDraws);
    const auto constraint = test::constraint_of(grammar, kTexts);
    const auto held = frequencies(sampling, constraint, kDraws);
    grammar::ConstraintState state(constraint);
    double allowed = 0;
    for (const auto& [token, share] : free) allowed += state.allows(token) ? share : 0;
    REQUIRE(allowed > 0.05);
    for (const auto& [token, share] : held) {
        CHECK(state.allows(token));
        const double expected = free.contains(token) ? free.at(token) / allowed : 0;
        CHECK(std::abs(share - expected) < 0.02);
    }
}

} // namespace

TEST_CASE("under a grammar, tokens come as often as without it, among those that are allowed") {
    Sampling sampling = test::plain();
    check_restricted(sampling, "root ::= [a-c13]+");
    sampling.temperature = 0.7F;
    sampling.top_k = 5;
    check_restricted(sampling, "root ::= [a-c13]+");
    sampling.top_k = 0;
    sampling.top_p = 0.8F;
    check_restricted(sampling, "root ::= [a-c13]+");
    sampling.top_p = 1.0F;
    sampling.min_p = 0.2F;
    check_restricted(sampling, "root ::= [a-c13]+");
}

TEST_CASE("where none of the candidates is allowed, the others are drawn from by their own probabilities") {
    Sampling sampling = test::plain();
    sampling.top_k = 1;
    std::vector<float> logits = some_logits();
    const Token best = sampling::likeliest(logits);
    std::string others = "root ::= [";
    for (const std::string& text : kTexts) others += token_of(text) == best ? "" : text;
    const auto counts = frequencies(sampling, test::constraint_of(others + "]", kTexts), 200);
    CHECK(counts.size() == 1);
    CHECK(counts.begin()->first != best);
}

TEST_CASE("a grammar that allows everything changes nothing, seed by seed") {
    const auto constraint = test::constraint_of("root ::= .*", kTexts);
    for (uint32_t seed = 0; seed < 50; ++seed) {
        Sampling sampling = test::plain();
        sampling.seed = seed;
        sampling.logit_bias = {{.token = 0, .bias = -std::numeric_limits<float>::infinity()},
                               {.token = 1, .bias = -std::numeric_limits<float>::infinity()}};
        Sampler free({kSize}, sampling, {});
        Sampler held({kSize}, sampling, {}, constraint);
        Candidates candidates;
        for (int i = 0; i < 50; ++i) {
            std::vector<float> logits = some_logits();
            CHECK(free.sample(logits.data(), candidates) == held.sample(logits.data(), candidates));
            CHECK(logits == some_logits());
        }
    }
}

TEST_CASE("greedy takes the likeliest token that is allowed") {
    Sampling sampling = test::plain();
    sampling.temperature = 0;
    Sampler sampler({kSize}, sampling, {}, test::constraint_of("root ::= [d-f] [1-4]", kTexts));
    Candidates candidates;
    std::vector<float> logits = some_logits();
    for (const auto& [from, to] : {std::pair("d", "f"), std::pair("1", "4")}) {
        Token best = token_of(from);
        for (Token token = best; token <= token_of(to); ++token) {
            if (logits[static_cast<size_t>(token)] > logits[static_cast<size_t>(best)]) best = token;
        }
        CHECK(sampler.sample(logits.data(), candidates) == best);
    }
    CHECK(sampler.continuation() == Continuation::complete);
}

TEST_CASE("a token that ends the reply is allowed where the grammar may end, and nowhere else") {
    grammar::ConstraintState state(test::constraint_of("root ::= \"a\" \"b\"?", kTexts));
    CHECK_FALSE(state.allows(0));
    state.accept(token_of("a"));
    CHECK(state.allows(0));
    CHECK_FALSE(state.is_complete());
    state.accept(token_of("b"));
    CHECK(state.is_complete());
}

TEST_CASE("a grammar that no token of the vocabulary can go on with blocks the reply") {
    for (const float temperature : {0.0F, 1.0F}) {
        Sampling sampling = test::plain();
        sampling.temperature = temperature;
        Sampler sampler({kSize}, sampling, {}, test::constraint_of("root ::= \"a\" \"#\"", kTexts));
        Candidates candidates;
        std::vector<float> logits = some_logits();
        CHECK(sampler.sample(logits.data(), candidates) == token_of("a"));
        CHECK(sampler.continuation() == Continuation::open);
        sampler.sample(logits.data(), candidates);
        CHECK(sampler.continuation() == Continuation::blocked);
    }
}

TEST_CASE("a token that is banned stays banned, even when the grammar allows no other") {
    Sampling sampling = test::plain();
    sampling.logit_bias = {{.token = token_of("a"), .bias = -std::numeric_limits<float>::infinity()}};
    Sampler sampler({kSize}, sampling, {}, test::constraint_of("root ::= \"a\"", kTexts));
    Candidates candidates;
    std::vector<float> logits = some_logits();
    sampler.sample(logits.data(), candidates);
    CHECK(sampler.continuation() == Continuation::blocked);
}

TEST_CASE("tokens without a text are no part of a grammar, and control tokens only where they are spelled") {
    auto constraint = test::constraint_of("root ::= \"<call>\" \"a\"", {"a", ""});
    CHECK_FALSE(grammar::ConstraintState(constraint).allows(3));
    constraint->spelled = {{.token = 3, .text = "<call>"}};
    grammar::ConstraintState state(constraint);
    CHECK(state.allows(3));
    grammar::TokenSet allowed;
    state.find_allowed(allowed);
    std::vector<Token> found;
    allowed.for_each([&](Token token) { found.push_back(token); });
    CHECK(found == std::vector<Token>{3});
    state.accept(3);
    CHECK(state.allows(2));
}

TEST_CASE("a lazy grammar leaves the text before its word alone, and holds from the word on") {
    auto constraint = test::constraint_of("root ::= \"ab\" [1-2]+", kTexts);
    constraint->triggers = grammar::Triggers{.words = {"ab"}, .patterns = {}, .tokens = {}};
    grammar::ConstraintState state(constraint);
    for (const char* text : {"c", "1", "a", "a"}) {
        CHECK(state.allows(token_of(text)));
        state.accept(token_of(text));
    }
    CHECK(state.allows(0));
    state.accept(token_of("b"));
    CHECK_FALSE(state.allows(token_of("c")));
    CHECK(state.allows(token_of("1")));
    CHECK_FALSE(state.allows(0));
}

TEST_CASE("a lazy grammar begins at the group that a pattern matched, or at a token") {
    auto constraint = test::constraint_of("root ::= \"f\"? \"1\" \"2\"", kTexts);
    constraint->triggers = grammar::Triggers{.words = {},
                                             .patterns = {{.regex = std::regex("d(1)"), .is_whole = false}},
                                             .tokens = {token_of("f")}};
    grammar::ConstraintState by_pattern(constraint);
    for (const char* text : {"e", "d", "1"}) by_pattern.accept(token_of(text));
    CHECK(by_pattern.allows(token_of("2")));
    CHECK_FALSE(by_pattern.allows(token_of("1")));
    grammar::ConstraintState by_token(constraint);
    by_token.accept(token_of("f"));
    CHECK(by_token.allows(token_of("1")));
    CHECK_FALSE(by_token.allows(token_of("2")));
}

TEST_CASE("what the prompt has begun is known to the grammar") {
    auto constraint = test::constraint_of("root ::= \"abc\" [1-4]", kTexts);
    constraint->begun = "ab";
    grammar::ConstraintState state(constraint);
    CHECK(state.allows(token_of("c")));
    CHECK_FALSE(state.allows(token_of("a")));
}
