// engine::NgramIndex: drafts what followed the last time.
#include "engine/ngram_drafter.h"

#include "check.h"
#include "random.h"

#include <vector>

using base::Token;
using engine::NgramIndex;

namespace {

using Tokens = std::vector<Token>;

Tokens drafts_after(const Tokens& text) {
    NgramIndex index;
    index.observe(text);
    return {index.drafts().begin(), index.drafts().end()};
}

/// `count` different tokens.
Tokens counting(Token first, Token count) {
    Tokens text;
    for (Token i = 0; i < count; ++i) text.push_back(first + i);
    return text;
}

} // namespace

TEST_CASE("n-gram index: drafts what followed when the last three tokens occurred before") {
    Tokens text = counting(0, 100);
    text.insert(text.end(), {40, 41, 42});
    CHECK_EQ(drafts_after(text), counting(43, 8));
}

TEST_CASE("n-gram index: drafts nothing if the latest tokens are new, or fewer than three are known") {
    CHECK_EQ(drafts_after(counting(0, 100)), Tokens{});
    CHECK_EQ(drafts_after({1, 2, 9, 1, 2}), Tokens{});
    CHECK_EQ(drafts_after({}), Tokens{});
    CHECK_EQ(drafts_after({7, 7, 7}), Tokens{});
}

TEST_CASE("n-gram index: of several occurrences the latest counts") {
    Tokens text{1, 2, 3, 50, 60, 1, 2, 3, 70, 80, 90, 91, 92, 93, 94, 95, 1, 2, 3};
    CHECK_EQ(drafts_after(text), Tokens{70, 80, 90, 91, 92, 93, 94, 95});
}

TEST_CASE("n-gram index: a loop is drafted beyond its end") {
    CHECK_EQ(drafts_after({9, 1, 2, 1, 2, 1}), Tokens{2, 1, 2, 1, 2, 1, 2, 1});
    CHECK_EQ(drafts_after({7, 7, 7, 7}), Tokens{7, 7, 7, 7, 7, 7, 7, 7});
}

TEST_CASE("n-gram index: drafts from a prediction, before and after the text is cut") {
    const Tokens prediction = counting(500, 100);
    NgramIndex index(prediction);
    Tokens text = counting(0, 50);
    text.insert(text.end(), {540, 541, 542});
    index.observe(text);
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(543, 8));
    text.erase(text.begin() + 10, text.begin() + 30);
    index.observe(text);
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(543, 8));
    for (Token token = 543; token < 560; ++token) {
        text.push_back(token);
        index.observe(text);
    }
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(560, 8));
    CHECK(index.chance(0) > 0.8);
}

TEST_CASE("n-gram drafter: may draft for requests with a prediction alone") {
    const Tokens text{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::requests_with_prediction);
    CHECK(drafter.is_idle());
    drafter.predict(7, counting(20, 30));
    CHECK(!drafter.is_idle());
    CHECK(drafter.draft(8, text, 8).empty());
    CHECK_EQ(drafter.draft(7, text, 2).size(), 2u);
    drafter.forget(8);
    drafter.forget(7);
    CHECK(drafter.is_idle());
    CHECK(drafter.draft(7, text, 8).empty());
}

TEST_CASE("n-gram index: trusts a text that repeats itself, more with every accepted draft, and mistrusts "
          "another") {
    Tokens text = counting(0, 200);
    NgramIndex index;
    for (Token token = 0; token < 60; ++token) {
        text.push_back(token);
        index.observe(text);
    }
    CHECK(index.chance(0) > 0.9);
    // Three tokens that occurred before, and then always another one.
    const double before = index.chance(0);
    for (Token i = 0; i < 40; ++i) {
        for (const Token token : {100, 101, 102, 1000 + i}) {
            text.push_back(token);
            index.observe(text);
        }
    }
    for (const Token token : {100, 101, 102}) {
        text.push_back(token);
        index.observe(text);
    }
    CHECK(index.chance(0) < 0.3);
    CHECK(index.chance(0) < before);
    // A long match is another matter.
    CHECK(index.chance(7) > 0.9);
}

TEST_CASE("n-gram index: goes on after the text was cut") {
    Tokens text = counting(0, 500);
    NgramIndex index;
    index.observe(text);
    text.erase(text.begin(), text.begin() + 300);
    index.observe(text);
    for (const Token token : {350, 351, 352}) text.push_back(token);
    index.observe(text);
    CHECK_EQ(index.drafts()[0], 353);
}

TEST_CASE("n-gram index: a place that it has learned may be the end of a text that was cut in between") {
    Tokens text;
    for (Token i = 0; i < 500; ++i) text.push_back(i % 2);
    NgramIndex index;
    index.observe(text);
    text.pop_back();
    index.observe(text);
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), Tokens{1, 0, 1, 0, 1, 0, 1, 0});
}

TEST_CASE("n-gram index: whatever the text, its drafts are what followed the same three tokens") {
    for (const uint64_t seed : test::seeds(20)) {
        CAPTURE(seed);
        test::Random random(seed);
        NgramIndex index;
        Tokens text;
        for (int step = 0; step < 2000; ++step) {
            for (int32_t count = random.between(1, 4); count > 0; --count)
                text.push_back(random.between(0, 5));
            index.observe(text);
            if (index.drafts().empty()) continue;
            bool is_there = false;
            for (size_t end = text.size() - 1; end >= 3 && !is_there; --end) {
                is_there = text[end] == index.drafts()[0] && text[end - 1] == text.back() &&
                           text[end - 2] == text[text.size() - 2] && text[end - 3] == text[text.size() - 3];
            }
            CHECK(is_there);
            CHECK_EQ(index.drafts().size(), NgramIndex::kDraftsMax);
        }
    }
}
