// engine::PrefillBudget: how many prompt tokens a step computes beside decoding sequences.
#include "check.h"
#include "engine/step_cost.h"

using engine::PrefillBudget;
using engine::UnfinishedSteps;

namespace {

/// A machine whose steps take 40 ms and 5 more for each prompt token.
double step_ms(int32_t prompt) {
    return 40 + 5.0 * prompt;
}

} // namespace

TEST_CASE("prefill budget: begins with a number that does no harm") {
    CHECK_EQ(PrefillBudget(512).tokens(1, 1), 64);
    CHECK_EQ(PrefillBudget(512).tokens(1, 4), 256);
    CHECK_EQ(PrefillBudget(32).tokens(1, 1), 32);
}

TEST_CASE("prefill budget: settles where a step takes five times as long as one without prompt tokens") {
    PrefillBudget budget(512);
    for (int step = 0; step < 20; ++step) budget.observe(3, 0, step_ms(0));
    for (int step = 0; step < 20; ++step) {
        const int32_t prompt = budget.tokens(3, 1);
        budget.observe(3, prompt, step_ms(prompt));
    }
    CHECK_EQ(budget.tokens(3, 1), 32);
}

TEST_CASE("prefill budget: what something else takes between two steps is part of the time") {
    PrefillBudget budget(512);
    budget.observe(3, 0, step_ms(0));
    budget.observe(3, 100, step_ms(100));
    CHECK_EQ(budget.decoding_step_ms(), 40);
    CHECK_EQ(budget.tokens(3, 1), (5 - 1) * 40 / 5);
    CHECK_EQ(budget.tokens(3, 1, 60), ((5 - 1) * 40 - 60) / 5);
    CHECK_EQ(budget.tokens(3, 1, 1000), 16);
}

TEST_CASE("prefill budget: lets a few slow down more when many wait") {
    PrefillBudget budget(512);
    budget.observe(1, 0, step_ms(0));
    budget.observe(1, 100, step_ms(100));
    CHECK_EQ(budget.tokens(1, 1), 32);
    CHECK_EQ(budget.tokens(1, 7), (5 * 7 - 1) * 40 / 5);
    CHECK_EQ(budget.tokens(7, 1), 32);
}

TEST_CASE("prefill budget: a disturbed step before a prompt does not make its chunks larger") {
    PrefillBudget budget(512);
    for (int step = 0; step < 20; ++step) budget.observe(3, 0, step_ms(0));
    budget.observe(3, 0, 1.5 * step_ms(0));
    budget.observe(3, 100, step_ms(100));
    CHECK(budget.tokens(3, 1) <= 32 * 1.1);
    for (int step = 0; step < 30; ++step) budget.observe(3, 0, 2 * step_ms(0));
    CHECK(budget.decoding_step_ms() > 1.9 * step_ms(0));
}

TEST_CASE("prefill budget: follows a machine that becomes slower within a few steps") {
    PrefillBudget budget(512);
    for (int step = 0; step < 20; ++step) budget.observe(2, 0, step_ms(0));
    budget.observe(2, 100, step_ms(100));
    for (int step = 0; step < 5; ++step) budget.observe(2, 100, 40 + 10.0 * 100);
    CHECK(budget.tokens(2, 1) < 16 + 5);
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
    budget.observe(3, 100, step_ms(100));
    CHECK_EQ(budget.tokens(3, 1), 32);
    CHECK_EQ(budget.tokens(3, 1, 15), 32); // 29 would be right
    CHECK_EQ(budget.tokens(3, 1, 40), 24);
    CHECK_EQ(budget.tokens(3, 1, 25), 24); // 27
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
    CHECK_EQ(budget.tokens(1, 1), 200);
    observe(1, 0, 10, true);
    CHECK_EQ(budget.tokens(1, 1), 200);
}
