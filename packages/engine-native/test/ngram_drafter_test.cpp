// engine::NgramDrafter: what followed the last time.
#include "engine/ngram_drafter.h"

#include "check.h"
#include "random.h"

#include <vector>

using base::Token;
using engine::NgramDrafter;

namespace {

using Tokens = std::vector<Token>;

Tokens guesses_after(const Tokens& text) {
    NgramDrafter drafter;
    drafter.observe(text);
    return {drafter.guesses().begin(), drafter.guesses().end()};
}

/// `count` different tokens.
Tokens counting(Token first, Token count) {
    Tokens text;
    for (Token i = 0; i < count; ++i) text.push_back(first + i);
    return text;
}

} // namespace

TEST_CASE("n-gram drafter: guesses what followed when the last three tokens stood there before") {
    Tokens text = counting(0, 100);
    text.insert(text.end(), {40, 41, 42});
    CHECK_EQ(guesses_after(text), counting(43, 8));
}

TEST_CASE("n-gram drafter: guesses nothing where the latest tokens are new, or fewer than three are known") {
    CHECK_EQ(guesses_after(counting(0, 100)), Tokens{});
    CHECK_EQ(guesses_after({1, 2, 9, 1, 2}), Tokens{});
    CHECK_EQ(guesses_after({}), Tokens{});
    CHECK_EQ(guesses_after({7, 7, 7}), Tokens{});
}

TEST_CASE("n-gram drafter: of several places the latest counts") {
    Tokens text{1, 2, 3, 50, 60, 1, 2, 3, 70, 80, 90, 91, 92, 93, 94, 95, 1, 2, 3};
    CHECK_EQ(guesses_after(text), Tokens{70, 80, 90, 91, 92, 93, 94, 95});
}

TEST_CASE("n-gram drafter: a loop is guessed beyond its end") {
    CHECK_EQ(guesses_after({9, 1, 2, 1, 2, 1}), Tokens{2, 1, 2, 1, 2, 1, 2, 1});
    CHECK_EQ(guesses_after({7, 7, 7, 7}), Tokens{7, 7, 7, 7, 7, 7, 7, 7});
}

TEST_CASE(
    "n-gram drafter: trusts a text that repeats itself, more with every right guess, and mistrusts another") {
    Tokens text = counting(0, 200);
    NgramDrafter drafter;
    for (Token token = 0; token < 60; ++token) {
        text.push_back(token);
        drafter.observe(text);
    }
    CHECK(drafter.chance(0) > 0.9);
    // Three tokens that stood there before, and then always another one.
    const double before = drafter.chance(0);
    for (Token i = 0; i < 40; ++i) {
        for (const Token token : {100, 101, 102, 1000 + i}) {
            text.push_back(token);
            drafter.observe(text);
        }
    }
    for (const Token token : {100, 101, 102}) {
        text.push_back(token);
        drafter.observe(text);
    }
    CHECK(drafter.chance(0) < 0.3);
    CHECK(drafter.chance(0) < before);
    // A long match is another matter.
    CHECK(drafter.chance(7) > 0.9);
}

TEST_CASE("n-gram drafter: goes on when a text was cut at its beginning") {
    Tokens text = counting(0, 500);
    NgramDrafter drafter;
    drafter.observe(text);
    text.erase(text.begin(), text.begin() + 300);
    drafter.observe(text);
    for (const Token token : {350, 351, 352}) text.push_back(token);
    drafter.observe(text);
    CHECK_EQ(drafter.guesses()[0], 353);
}

TEST_CASE("n-gram drafter: a place that it has learned may become the end of a text that was cut while "
          "nobody asked") {
    Tokens text;
    for (Token i = 0; i < 500; ++i) text.push_back(i % 2);
    NgramDrafter drafter;
    drafter.observe(text);
    text.pop_back();
    drafter.observe(text);
    CHECK_EQ(Tokens(drafter.guesses().begin(), drafter.guesses().end()), Tokens{1, 0, 1, 0, 1, 0, 1, 0});
}

TEST_CASE("n-gram drafter: whatever the text, its guesses are what followed the same three tokens") {
    for (const uint64_t seed : test::seeds(20)) {
        CAPTURE(seed);
        test::Random random(seed);
        NgramDrafter drafter;
        Tokens text;
        for (int step = 0; step < 2000; ++step) {
            for (int32_t count = random.between(1, 4); count > 0; --count)
                text.push_back(random.between(0, 5));
            drafter.observe(text);
            if (drafter.guesses().empty()) continue;
            bool is_there = false;
            for (size_t end = text.size() - 1; end >= 3 && !is_there; --end) {
                is_there = text[end] == drafter.guesses()[0] && text[end - 1] == text.back() &&
                           text[end - 2] == text[text.size() - 2] && text[end - 3] == text[text.size() - 3];
            }
            CHECK(is_there);
            CHECK_EQ(drafter.guesses().size(), NgramDrafter::kGuessesMax);
        }
    }
}
