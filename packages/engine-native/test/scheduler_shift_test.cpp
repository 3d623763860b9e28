// sched::Scheduler: requests that go on when they fill the context, by examples.
#include "check.h"
#include "prompts.h"
#include "scheduler_harness.h"

#include <string>
#include <vector>

using base::RequestId;
using base::Token;
using sched::ChatTurns;
using sched::Limits;
using test::own_prompt;
using test::prompt;
using test::SchedulerHarness;
using test::with;

namespace {

constexpr int32_t kContextLength = 64;

constexpr Limits kShifting{.cells = 400,
                           .context_length = kContextLength,
                           .sequences = 3,
                           .cached_sequences = 3,
                           .batch_tokens = 80,
                           .checkpoints = 0,
                           .reserve_ahead = 4,
                           .can_shift = true};

constexpr Limits kRecomputing = with(kShifting, [](Limits& limits) { limits.can_shift = false; });

/// Submits a request that keeps 20 tokens.
RequestId submit(SchedulerHarness& harness, std::vector<Token> prompt, int32_t generate_max,
                 std::vector<int32_t> ends = {}) {
    return harness.submit("a", std::move(prompt), generate_max, true, {},
                          ChatTurns{.keep = 20, .ends = std::move(ends)});
}

/// Steps until a request is cut; returns that step in words.
std::string step_of_cut(SchedulerHarness& harness) {
    for (int steps = 0; steps < 200; ++steps) {
        std::string words = harness.step();
        if (!harness.shifts.empty()) return words;
    }
    return "no request is cut";
}

} // namespace

TEST_CASE(
    "shift: a request that fills the context drops half after the kept part, moves the rest and goes on") {
    SchedulerHarness harness(kShifting);
    submit(harness, own_prompt(1, 60), 30);
    for (int i = 0; i < 4; ++i) harness.step();
    CHECK_EQ(harness.slots.count(1), 1U);
    // 64 tokens are known and 63 computed; 22 of the 44 after the first 20 are dropped.
    CHECK_EQ(harness.step(), "1: 41+1*");
    REQUIRE_EQ(harness.shifts.size(), 1U);
    CHECK(!harness.shifts[0].is_recomputed);
    REQUIRE_EQ(harness.moved.size(), 1U);
    CHECK_EQ(harness.moved[0].cut.keep, 20);
    CHECK_EQ(harness.moved[0].cut.drop, 22);
    CHECK_EQ(harness.step(), "1: 42+1*");
    CHECK_EQ(harness.scheduler.counters().context_shifts, 1U);
    CHECK_EQ(harness.scheduler.counters().preemptions, 0U);
}

TEST_CASE("shift: drops whole messages if one ends near the middle") {
    SchedulerHarness harness(kShifting);
    submit(harness, own_prompt(1, 60), 30, {30, 50});
    CHECK_EQ(step_of_cut(harness), "1: 33+1*");
    CHECK_EQ(harness.shifts[0].cut.drop, 30);
}

TEST_CASE("shift: a request is cut as often as it fills the context, and ends at generate_max") {
    SchedulerHarness harness(kShifting);
    submit(harness, own_prompt(1, 40), 200);
    int steps = 0;
    while (!harness.step().empty()) steps += 1;
    CHECK_EQ(steps, 200);
    CHECK_EQ(harness.scheduler.counters().context_shifts, 8U);
    CHECK(harness.scheduler.ids().empty());
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("shift: if cells cannot be moved, the remaining tokens are computed again at once") {
    SchedulerHarness harness(kRecomputing);
    submit(harness, own_prompt(1, 60), 30);
    CHECK_EQ(step_of_cut(harness), "1: 20+22*");
    CHECK(harness.shifts[0].is_recomputed);
    CHECK(harness.moved.empty());
    // The kept part was cached.
    CHECK_EQ(harness.cached[1], 20);
    CHECK_EQ(harness.step(), "1: 42+1*");
    CHECK_EQ(harness.scheduler.counters().preemptions, 0U);
}

TEST_CASE("shift: cells that another running request holds too are not moved") {
    SchedulerHarness harness(kShifting);
    submit(harness, prompt(60, 1, 1), 30);
    harness.step();
    submit(harness, prompt(60, 1, 2), 30);
    CHECK_EQ(harness.step(), "1: 61+1*, 2: 60+1*");
    // The first request's cut ends at 42, and the tokens behind it are common up to 60.
    CHECK_EQ(step_of_cut(harness), "2: 62+1*, 1: 20+4");
    CHECK(harness.shifts[0].is_recomputed);
    // Now only the second request holds them.
    CHECK_EQ(harness.step(), "2: 41+1*, 1: 24+4");
    REQUIRE_EQ(harness.shifts.size(), 1U);
    CHECK(!harness.shifts[0].is_recomputed);
}

TEST_CASE("shift: dropped cells that another request holds too stay with it") {
    SchedulerHarness harness(kShifting);
    submit(harness, prompt(40, 20, 1), 30);
    harness.step();
    harness.submit("b", prompt(40, 10, 2), 14);
    CHECK_EQ(step_of_cut(harness), "1: 41+1*, 2: 50+1*");
    CHECK(!harness.shifts[0].is_recomputed);
    CHECK_EQ(harness.step(), "1: 42+1*, 2: 51+1*");
}

TEST_CASE("shift: a cached sequence that holds cells to be moved is evicted") {
    SchedulerHarness harness(kShifting);
    harness.submit("a", prompt(60, 0, 1), 1);
    harness.step();
    CHECK_EQ(harness.scheduler.counters().cells_cached, 60);
    submit(harness, prompt(60, 1, 1), 30);
    CHECK_EQ(step_of_cut(harness), "2: 41+1*");
    CHECK(!harness.shifts[0].is_recomputed);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 0);
}

TEST_CASE("shift: moved cells are never shared, kept ones still are") {
    SchedulerHarness harness(kShifting);
    submit(harness, own_prompt(1, 60), 30);
    step_of_cut(harness);
    // Exactly the tokens that the first request has now: 20 kept ones, and those that moved, from 42 on.
    std::vector<Token> same = own_prompt(1, 60);
    same.erase(same.begin() + 20, same.begin() + 42);
    same.push_back(7);
    harness.submit("b", same, 9);
    CHECK_EQ(harness.step(), "1: 42+1*, 2: 20+4");
    CHECK(harness.scheduler.cancel(1));
    CHECK(harness.scheduler.cancel(2));
    harness.step();
    // The first leaves only its kept part, the second everything that it computed.
    CHECK_EQ(harness.scheduler.counters().cells_cached, 24);
}

TEST_CASE("shift: a preempted request whose cells were moved computes its shortened text again") {
    SchedulerHarness harness(with(kShifting, [](Limits& limits) {
        limits.cells = kContextLength;
        limits.reserve_ahead = 1;
    }));
    harness.submit("a", own_prompt(1, 10), 50);
    submit(harness, own_prompt(2, 30), 100);
    while (harness.scheduler.counters().preemptions == 0) REQUIRE(harness.step() != "");
    while (harness.scheduler.ids().size() == 2) REQUIRE(harness.step() != "");
    int steps = 0;
    while (!harness.scheduler.ids().empty()) {
        REQUIRE(steps++ < 200);
        harness.step();
    }
    CHECK(harness.scheduler.counters().context_shifts > 0);
}
