// engine::ChunkCost and PrefillBudget: how many prompt tokens a step computes beside decoding sequences.
#include "check.h"
#include "engine/step_cost.h"

#include <algorithm>

using engine::ChunkCost;
using engine::PrefillBudget;
using engine::UnfinishedSteps;

namespace {

/// What a step may take with prefill, in steps without.
constexpr double kStretch = 3.4;

/// A machine whose steps take 40 ms and 3 more for each prompt token.
double step_ms(int32_t prompt) {
    return 40 + 3.0 * prompt;
}

/// Steps as the budget wants them, on a machine whose chunks take 20 ms and 3 more for each token. Returns the longest one with
/// prefill.
double longest_step(PrefillBudget& budget) {
    double longest = 0;
    for (int step = 0; step < 20; ++step) {
        const int32_t prompt = budget.tokens(3, 1);
        const double ms = 40 + 20 + 3.0 * prompt;
        budget.observe(3, prompt, ms);
        longest = std::max(longest, ms);
    }
    return longest;
}

} // namespace

TEST_CASE("chunk cost: between the sizes seen by a straight line, above them by the cost of a token") {
    ChunkCost cost;
    CHECK(!cost.is_known());
    cost.observe(20, 30);
    cost.observe(200, 120);
    CHECK(cost.is_known());
    CHECK_NEAR(cost.tokens_in(30, 10), 20, 1e-9);
    CHECK_NEAR(cost.tokens_in(75, 10), 110, 1e-9);
    CHECK_NEAR(cost.tokens_in(240, 10), 400, 1e-9);
}

TEST_CASE("chunk cost: sizes below those seen have a fixed cost, at most half of the smallest one's") {
    ChunkCost cost;
    cost.observe(100, 200);
    CHECK_NEAR(cost.tokens_in(110, 20), 50, 1e-9);
    CHECK_NEAR(cost.tokens_in(150, 500), 50, 1e-9);
    CHECK(cost.tokens_in(10, 20) <= 0);
}

TEST_CASE("chunk cost: a larger size that is no longer the more expensive one is preferred") {
    ChunkCost cost;
    cost.observe(20, 50);
    cost.observe(40, 45); // the machine is faster now
    cost.observe(80, 90);
    CHECK_NEAR(cost.tokens_in(67.5, 10), 60, 1e-9);
}

TEST_CASE("prefill budget: begins with a number that does no harm") {
    CHECK_EQ(PrefillBudget(512).tokens(1, 1), 64);
    CHECK_EQ(PrefillBudget(512).tokens(1, 4), 256);
    CHECK_EQ(PrefillBudget(32).tokens(1, 1), 32);
}

TEST_CASE("prefill budget: settles where a step takes as long as it may") {
    PrefillBudget budget(512);
    for (int step = 0; step < 20; ++step) budget.observe(3, 0, step_ms(0));
    for (int step = 0; step < 20; ++step) {
        const int32_t prompt = budget.tokens(3, 1);
        budget.observe(3, prompt, step_ms(prompt));
    }
    CHECK_NEAR(budget.tokens(3, 1), 32, 3);
}

TEST_CASE("prefill budget: the first chunk beside decoding sequences is not too long, though large ones cost "
          "less a token") {
    PrefillBudget budget(512);
    budget.observe(0, 512, 20 + 3.0 * 512);
    budget.observe(3, 0, 40);
    CHECK(longest_step(budget) <= kStretch * 40);
    CHECK_NEAR(budget.tokens(3, 1), (kStretch * 40 - 60) / 3, 3);
    // Chunks of a whole step leave what is known of small ones as it is.
    for (int step = 0; step < 20; ++step) budget.observe(0, 512, 20 + 3.0 * 512);
    CHECK(longest_step(budget) <= kStretch * 40);
}

TEST_CASE("prefill budget: what something else takes between two steps is part of the time") {
    PrefillBudget budget(512);
    budget.observe(3, 0, step_ms(0));
    budget.observe(3, 32, step_ms(32));
    CHECK_EQ(budget.decoding_step_ms(), 40);
    CHECK_EQ(budget.tokens(3, 1), 32);
    CHECK_EQ(budget.tokens(3, 1, 20), 20); // 76 ms, of which 40 are fixed and 96 were seen for 32 tokens
    CHECK_EQ(budget.tokens(3, 1, 1000), 16);
}

TEST_CASE("prefill budget: lets a few slow down more when many wait") {
    PrefillBudget budget(512);
    budget.observe(1, 0, step_ms(0));
    budget.observe(1, 32, step_ms(32));
    CHECK_EQ(budget.tokens(1, 1), 32);
    CHECK_NEAR(budget.tokens(1, 7), (kStretch * 7 - 1) * 40 / 3, 1);
    CHECK_EQ(budget.tokens(7, 1), 32);
}

TEST_CASE("prefill budget: follows a machine that becomes slower within a few steps") {
    PrefillBudget budget(512);
    for (int step = 0; step < 20; ++step) budget.observe(2, 0, 40);
    budget.observe(2, 90, 40 + 1.0 * 90);
    int32_t prompt = budget.tokens(2, 1);
    CHECK(prompt > 90);
    for (int step = 0; step < 6; ++step) {
        budget.observe(2, prompt, 40 + 4.0 * prompt);
        prompt = budget.tokens(2, 1);
    }
    CHECK_NEAR(prompt, (kStretch - 1) * 40 / 4, 3);
}

TEST_CASE("prefill budget: never gives a prompt less than what a batch is worth, nor more than fits a step") {
    PrefillBudget budget(512);
    budget.observe(1, 0, 1);
    budget.observe(1, 100, 1000);
    CHECK_EQ(budget.tokens(1, 1), 16);
    PrefillBudget fast(128);
    fast.observe(1, 0, 1000);
    fast.observe(1, 100, 1001);
    CHECK_EQ(fast.tokens(1, 1), 128);
}

TEST_CASE("prefill budget: a clock that stood still changes nothing") {
    PrefillBudget budget(512);
    budget.observe(1, 0, 0);
    budget.observe(1, 100, 0);
    CHECK_EQ(budget.tokens(1, 1), 64);
}

TEST_CASE("prefill budget: keeps its number while a new one would be nearly the same") {
    PrefillBudget budget(512);
    budget.observe(3, 0, step_ms(0));
    budget.observe(3, 32, step_ms(32));
    CHECK_EQ(budget.tokens(3, 1), 32);
    CHECK_EQ(budget.tokens(3, 1, 5), 32); // 29 would be right
    CHECK_EQ(budget.tokens(3, 1, 14), 24);
    CHECK_EQ(budget.tokens(3, 1, 10), 24); // 26
    CHECK_EQ(budget.tokens(3, 1), 32);
}

TEST_CASE(
    "prefill budget: steps that a device returns from before it has computed them are not read as free") {
    // A device that takes 0.2 ms for a prompt token, 10 ms for a step, and returns after 1 ms unless it is waited for.
    UnfinishedSteps steps;
    PrefillBudget budget(4096);
    const auto observe = [&](int32_t decoding, int32_t prompt, double ms, bool is_computed) {
        if (const auto computed = steps.add(prompt, ms, is_computed))
            budget.observe(decoding, computed->prompt, computed->ms);
    };
    observe(1, 0, 10, true);
    for (int chunk = 0; chunk < 3; ++chunk) observe(0, 500, 1, false);
    observe(1, 500, 407, true); // it waits for all four
    CHECK_NEAR(budget.decoding_step_ms(), 10, 1e-9);
    CHECK_NEAR(budget.tokens(1, 1), 2000.0 * (24 - 10) / (400 - 10), 1); // 24 ms, of which 10 are fixed
    observe(1, 0, 10, true);
    CHECK_NEAR(budget.tokens(1, 1), 2000.0 * (24 - 10) / (400 - 10), 1);
}
