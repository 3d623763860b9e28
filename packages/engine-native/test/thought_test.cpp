// engine::Thought: where thoughts begin and end, and how they are ended.
#include "engine/thought.h"

#include "check.h"
#include "random.h"

#include <string>
#include <vector>

using engine::Thought;
using engine::ThoughtRules;

namespace {

ThoughtRules rules(int32_t tokens_max, bool is_open = false) {
    return {.begin = "<think>",
            .ends = {"</think>", "<tool_call>"},
            .is_open = is_open,
            .tokens_max = tokens_max,
            .closing = {7, 8, 9}};
}

/// Notes the pieces, until the thought is to be ended: how many there were.
size_t note(Thought& thought, const std::vector<std::string>& pieces) {
    size_t noted = 0;
    for (const std::string& piece : pieces) {
        if (thought.next()) break;
        thought.note(piece);
        noted += 1;
    }
    return noted;
}

} // namespace

TEST_CASE("thought: is ended after exactly so many tokens, by the tokens that end it") {
    Thought thought(rules(3));
    CHECK_EQ(note(thought, {"Well", "<th", "ink>", "a", "b", "c", "d"}), 6U);
    for (const base::Token token : {7, 8, 9}) {
        REQUIRE(thought.next().has_value());
        CHECK_EQ(*thought.next(), token);
        thought.note("x");
    }
    CHECK(!thought.next());
    CHECK_EQ(thought.tokens(), 6);
    // The answer.
    CHECK_EQ(note(thought, {"Yes", ".", "No", "."}), 4U);
    CHECK_EQ(thought.tokens(), 6);
}

TEST_CASE("thought: that ends by itself counts, and what is left of its tokens is for the next one") {
    Thought thought(rules(4));
    note(thought, {"<think>", "a", "</", "think>", "answer"});
    CHECK_EQ(thought.tokens(), 3);
    CHECK(!thought.next());
    CHECK_EQ(note(thought, {"<think>", "b", "c"}), 2U);
    CHECK(thought.next().has_value());
}

TEST_CASE("thought: a prompt may have begun it, and no tokens end it at once") {
    Thought open(rules(0, true));
    CHECK(open.next().has_value());
    Thought closed(rules(0));
    CHECK(!closed.next());
    CHECK_EQ(note(closed, {"a", "<think>", "b"}), 2U);
    CHECK(closed.next().has_value());
    Thought unlimited(rules(-1, true));
    CHECK_EQ(note(unlimited, std::vector<std::string>(1'000, "a")), 1'000U);
    CHECK_EQ(unlimited.tokens(), 1'000);
}

TEST_CASE("thought: is not ended inside a character") {
    Thought thought(rules(1, true));
    CHECK_EQ(note(thought, {"\xF0\x9F", "\x98", "\x80", "a"}), 3U);
    CHECK(thought.next().has_value());
}

TEST_CASE("thought: ends when it is asked to, once it is there") {
    Thought thought(rules(-1));
    CHECK(!thought.end());
    thought.note("<think>");
    thought.note("a");
    CHECK(thought.may_close_within(0) == false);
    CHECK(thought.end());
    CHECK_EQ(thought.next().value_or(0), 7);
    for (int i = 0; i < 3; ++i) thought.note("");
    CHECK(!thought.end());
}

TEST_CASE("thought: several marks in one token") {
    Thought thought(rules(5));
    CHECK_EQ(note(thought, {"<think></think>a<think>", "b"}), 2U);
    CHECK_EQ(thought.tokens(), 1);
}

TEST_CASE("thought: tells ahead whether it may have to be ended") {
    Thought thought(rules(3, true));
    CHECK(!thought.may_close_within(2));
    CHECK(thought.may_close_within(3));
    thought.note("a");
    CHECK(thought.may_close_within(2));
    CHECK(!Thought(ThoughtRules{}).may_close_within(100));
}

TEST_CASE("thought: counts as a search in the whole text does, wherever the tokens are cut") {
    test::Random random(5);
    for (int round = 0; round < 300; ++round) {
        std::string text;
        for (int part = 0; part < 12; ++part)
            text += random.one_of(
                std::vector<std::string>{"a", "<", "think>", "<think>", "</think>", "</", "bc"});
        Thought thought(rules(-1));
        int32_t expected = 0;
        std::string before;
        bool is_inside = false;
        size_t done = 0;
        for (size_t at = 0; at < text.size();) {
            const size_t size = std::min(text.size() - at, size_t{1} + random.below(5));
            thought.note(text.substr(at, size));
            expected += is_inside ? 1 : 0;
            before += text.substr(at, size);
            at += size;
            for (;;) {
                const std::string mark = is_inside ? "</think>" : "<think>";
                const size_t found = before.find(mark, done);
                if (found == std::string::npos) break;
                done = found + mark.size();
                is_inside = !is_inside;
            }
        }
        CHECK_EQ(thought.tokens(), expected);
    }
}

TEST_CASE("thought: calls end it, too") {
    Thought thought(rules(-1, true));
    note(thought, {"a", "<tool", "_call>", "b"});
    CHECK_EQ(thought.tokens(), 3);
}
