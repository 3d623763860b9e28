// engine::Pace: how much of a prompt goes beside running replies.
#include "engine/pace.h"

#include "check.h"

using engine::Pace;

namespace {

/// A machine whose turns take 40 ms and 5 more for each prompt token.
double turn_ms(int32_t prompt) {
    return 40 + 5.0 * prompt;
}

} // namespace

TEST_CASE("pace: begins with a number that does no harm") {
    CHECK_EQ(Pace(512).budget_busy(1, 1), 64);
    CHECK_EQ(Pace(512).budget_busy(1, 4), 256);
    CHECK_EQ(Pace(32).budget_busy(1, 1), 32);
}

TEST_CASE("pace: settles where a turn takes five times as long as one without prompt tokens") {
    Pace pace(512);
    for (int turn = 0; turn < 20; ++turn) pace.observe(3, 0, turn_ms(0));
    for (int turn = 0; turn < 20; ++turn) {
        const int32_t prompt = pace.budget_busy(3, 1);
        pace.observe(3, prompt, turn_ms(prompt));
    }
    CHECK_EQ(pace.budget_busy(3, 1), 32);
}

TEST_CASE("pace: what something else takes between two turns is part of the time") {
    Pace pace(512);
    pace.observe(3, 0, turn_ms(0));
    pace.observe(3, 100, turn_ms(100));
    CHECK_EQ(pace.decoding_turn_ms(), 40);
    CHECK_EQ(pace.budget_busy(3, 1), (5 - 1) * 40 / 5);
    CHECK_EQ(pace.budget_busy(3, 1, 60), ((5 - 1) * 40 - 60) / 5);
    CHECK_EQ(pace.budget_busy(3, 1, 1000), 16);
}

TEST_CASE("pace: lets a few slow down more when many wait") {
    Pace pace(512);
    pace.observe(1, 0, turn_ms(0));
    pace.observe(1, 100, turn_ms(100));
    CHECK_EQ(pace.budget_busy(1, 1), 32);
    CHECK_EQ(pace.budget_busy(1, 7), (5 * 7 - 1) * 40 / 5);
    CHECK_EQ(pace.budget_busy(7, 1), 32);
}

TEST_CASE("pace: follows a machine that becomes slower within a few turns") {
    Pace pace(512);
    for (int turn = 0; turn < 20; ++turn) pace.observe(2, 0, turn_ms(0));
    pace.observe(2, 100, turn_ms(100));
    for (int turn = 0; turn < 5; ++turn) pace.observe(2, 100, 40 + 10.0 * 100);
    CHECK(pace.budget_busy(2, 1) < 16 + 5);
}

TEST_CASE("pace: never gives a prompt less than what a batch is worth, nor more than fits a turn") {
    Pace pace(512);
    pace.observe(1, 0, 1);
    pace.observe(1, 100, 1000);
    CHECK_EQ(pace.budget_busy(1, 1), 16);
    Pace fast(128);
    fast.observe(1, 0, 1000);
    fast.observe(1, 100, 1001);
    CHECK_EQ(fast.budget_busy(1, 1), 128);
}

TEST_CASE("pace: a clock that stood still teaches nothing") {
    Pace pace(512);
    pace.observe(1, 0, 0);
    pace.observe(1, 100, 0);
    CHECK_EQ(pace.budget_busy(1, 1), 64);
}
