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

/// As many tokens as are drafted.
Tokens alternating(Token first, Token second) {
    Tokens text;
    while (text.size() < NgramIndex::kDraftsMax) text.push_back(text.size() % 2 == 0 ? first : second);
    return text;
}

using Salt = std::optional<std::string_view>;

/// The first eight drafts after `text`, for a new request, which then ends.
Tokens drafted(engine::NgramDrafter& drafter, const Tokens& text, Salt shared_with = "") {
    constexpr base::RequestId kId = 1;
    drafter.begin(kId, {}, shared_with);
    Tokens tokens;
    for (const engine::Draft& draft : drafter.draft(kId, text, 8)) tokens.push_back(draft.token);
    drafter.forget(kId);
    return tokens;
}

/// A whole reply to `prompt`, token by token.
void reply(engine::NgramDrafter& drafter, Tokens prompt, const Tokens& tokens, Salt shared_with = "") {
    constexpr base::RequestId kId = 2;
    drafter.begin(kId, {}, shared_with);
    for (const Token token : tokens) {
        prompt.push_back(token);
        drafter.draft(kId, prompt, 0);
    }
    drafter.forget(kId);
}

} // namespace

TEST_CASE("n-gram index: drafts what followed when the last three tokens occurred before") {
    Tokens text = counting(0, 100);
    text.insert(text.end(), {40, 41, 42});
    CHECK_EQ(drafts_after(text), counting(43, 16));
}

TEST_CASE("n-gram index: drafts nothing if the latest tokens are new, or fewer than three are known") {
    CHECK_EQ(drafts_after(counting(0, 100)), Tokens{});
    CHECK_EQ(drafts_after({1, 2, 9, 1, 2}), Tokens{});
    CHECK_EQ(drafts_after({}), Tokens{});
    CHECK_EQ(drafts_after({7, 7, 7}), Tokens{});
}

TEST_CASE("n-gram index: of several occurrences the latest counts") {
    Tokens text{1, 2, 3, 50, 60, 1, 2, 3, 70, 80, 90, 91, 92, 93, 94, 95, 1, 2, 3};
    CHECK_EQ(drafts_after(text), Tokens{70, 80, 90, 91, 92, 93, 94, 95, 1, 2, 3, 70, 80, 90, 91, 92});
}

TEST_CASE("n-gram index: a loop is drafted beyond its end") {
    CHECK_EQ(drafts_after({9, 1, 2, 1, 2, 1}), alternating(2, 1));
    CHECK_EQ(drafts_after({7, 7, 7, 7}), alternating(7, 7));
}

TEST_CASE("n-gram index: drafts from a prediction, before and after the text is cut") {
    const Tokens prediction = counting(500, 100);
    NgramIndex index(prediction);
    Tokens text = counting(0, 50);
    text.insert(text.end(), {540, 541, 542});
    index.observe(text);
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(543, 16));
    text.erase(text.begin() + 10, text.begin() + 30);
    index.observe(text);
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(543, 16));
    for (Token token = 543; token < 560; ++token) {
        text.push_back(token);
        index.observe(text);
    }
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), counting(560, 16));
    CHECK(index.chance(0) > 0.8);
}

TEST_CASE("n-gram drafter: may draft for requests with a prediction alone") {
    const Tokens text{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3};
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::requests_with_prediction);
    CHECK(drafter.is_idle());
    drafter.begin(7, counting(20, 30), "");
    drafter.begin(8, {}, "");
    CHECK(!drafter.is_idle());
    CHECK(drafter.draft(8, text, 8).empty());
    CHECK_EQ(drafter.draft(7, text, 2).size(), 2u);
    drafter.forget(8);
    drafter.forget(7);
    CHECK(drafter.is_idle());
    CHECK(drafter.draft(7, text, 8).empty());
}

TEST_CASE(
    "n-gram drafter: drafts from earlier replies, from their first tokens on, but not from their prompts") {
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::every_request);
    const Tokens prompt = counting(0, 50);
    CHECK_EQ(drafted(drafter, prompt), Tokens{});
    reply(drafter, prompt, counting(100, 40));
    Tokens text = prompt;
    text.push_back(100);
    CHECK_EQ(drafted(drafter, text), counting(101, 8));
    CHECK_EQ(drafted(drafter, {1, 2, 3, 110, 111, 112}), counting(113, 8));
    CHECK_EQ(drafted(drafter, {1, 2, 3, 10, 11, 12}), Tokens{});            // where the prompt was
    CHECK_EQ(drafted(drafter, {1, 2, 3, 135, 136, 137}), counting(138, 2)); // nothing follows
}

TEST_CASE("n-gram drafter: the longer match counts, and of equals the text itself") {
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::every_request);
    reply(drafter, counting(0, 5), {50, 60, 61, 62, 63, 64, 65, 66});
    CHECK_EQ(drafted(drafter, {61, 62, 63, 70, 71, 60, 61, 62, 63}), Tokens{64, 65, 66});
    CHECK_EQ(drafted(drafter, {90, 61, 62, 63, 70, 71, 91, 61, 62, 63}),
             Tokens{70, 71, 91, 61, 62, 63, 70, 71});
}

TEST_CASE(
    "n-gram drafter: a request that does not share its text is neither drafted from nor drafts from others") {
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::every_request);
    reply(drafter, counting(0, 5), counting(100, 20), std::nullopt);
    CHECK_EQ(drafted(drafter, {1, 104, 105, 106}), Tokens{});
    reply(drafter, counting(0, 5), counting(100, 20));
    CHECK_EQ(drafted(drafter, {1, 104, 105, 106}), counting(107, 8));
    CHECK_EQ(drafted(drafter, {1, 104, 105, 106}, std::nullopt), Tokens{});
    CHECK_EQ(drafted(drafter, {1, 2, 3, 1, 2, 3}, std::nullopt), Tokens{1, 2, 3, 1, 2, 3, 1, 2});
}

TEST_CASE(
    "n-gram drafter: replies are drafted from in requests of their salt, and those of a few salts are kept") {
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::every_request);
    const Tokens text{1, 104, 105, 106};
    reply(drafter, counting(0, 5), counting(100, 20), "a");
    CHECK_EQ(drafted(drafter, text), Tokens{});
    CHECK_EQ(drafted(drafter, text, "b"), Tokens{});
    CHECK_EQ(drafted(drafter, text, "a"), counting(107, 8));
    drafter.begin(3, {}, "a");
    for (size_t salt = 0; salt < engine::NgramDrafter::kHistoriesMax; ++salt)
        CHECK_EQ(drafted(drafter, text, std::to_string(salt)), Tokens{});
    CHECK_EQ(drafted(drafter, text, "a"), Tokens{});
    // A request that began with them still has them.
    CHECK(!drafter.draft(3, text, 8).empty());
}

TEST_CASE("n-gram drafter: how far earlier replies can be trusted is learned from all replies together") {
    engine::NgramDrafter drafter(engine::NgramDrafter::Scope::every_request);
    const auto chance_after = [&](const Tokens& text) {
        drafter.begin(1, {}, "");
        const auto drafts = drafter.draft(1, text, 1);
        const double chance = drafts.empty() ? -1 : drafts[0].chance;
        drafter.forget(1);
        return chance;
    };
    reply(drafter, {1, 2, 3}, counting(100, 40));
    const double unknown = chance_after({1, 2, 3, 100});
    for (int i = 0; i < 3; ++i) reply(drafter, {1, 2, 3}, counting(100, 40));
    const double trusted = chance_after({1, 2, 3, 100});
    CHECK(trusted > unknown);
    for (Token i = 0; i < 30; ++i) reply(drafter, {1, 2, 3}, {100, 1000 + i, 2000 + i});
    CHECK(chance_after({1, 2, 3, 100}) < trusted);
}

TEST_CASE("reply history: keeps the latest replies in bounded memory, and the end of one that is too long") {
    using engine::ReplyHistory;
    ReplyHistory history;
    Token next = 0;
    for (int i = 0; i < 40; ++i) {
        history.add(counting(next, 5000), 100);
        next += 5000;
        CHECK(history.size() <= ReplyHistory::kTokensMax);
        CHECK(history.find(counting(next - 100, 10)).length == 10);
    }
    CHECK(history.size() >= ReplyHistory::kTokensMax / 2);
    CHECK_EQ(history.find(counting(1000, 10)).length, 0);
    history.add(counting(next, 200'000), 0);
    CHECK(history.size() <= ReplyHistory::kTokensMax);
    CHECK_EQ(history.find(counting(next + 199'000, 10)).length, 10);
    CHECK_EQ(history.find(counting(next, 10)).length, 0);
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
    CHECK_EQ(Tokens(index.drafts().begin(), index.drafts().end()), alternating(1, 0));
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
