// Requests in the background (sched::kBackground): computed only in steps in which nothing else runs, in short steps, and out of the
// way of others in slots and cells.
#include "check.h"
#include "prompts.h"
#include "scheduler_harness.h"

#include <string>
#include <utility>
#include <vector>

using base::RequestId;
using base::Token;
using sched::Limits;
using test::kRoomy;
using test::kWithCache;
using test::SchedulerHarness;
using test::with;

namespace {

RequestId submit_behind(SchedulerHarness& harness, std::vector<Token> prompt, int32_t generate_max) {
    return harness.submit({.id = 0,
                           .client = "batch",
                           .priority = sched::kBackground,
                           .prompt = std::move(prompt),
                           .generate_max = generate_max,
                           .uses_cache = true});
}

} // namespace

TEST_CASE("background: it is computed in short steps, and set aside while anything else runs") {
    SchedulerHarness harness(kRoomy);
    submit_behind(harness, test::own_prompt(1, 6), 9);
    CHECK_EQ(harness.step(), "1: 0+4"); // of 8: whoever comes now waits for 4
    CHECK_EQ(harness.step(), "1: 4+2*");
    CHECK_EQ(harness.step(), "1: 6+1*");
    harness.submit("a", 10, 2);
    CHECK_EQ(harness.scheduler.counters().prompts, 1);
    CHECK_EQ(harness.step(), "2: 0+8"); // without a decoding sequence beside it, as far as it is concerned
    CHECK_EQ(harness.scheduler.counters().decoding, 0);
    CHECK_EQ(harness.step(), "2: 8+2*");
    CHECK_EQ(harness.step(), "2: 10+1*");
    CHECK_EQ(harness.step(), "1: 7+1*");
    CHECK_EQ(harness.scheduler.counters().preemptions, 0U);
}

TEST_CASE("background: one that waits is not admitted while anything else runs") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 2, 2);
    submit_behind(harness, test::own_prompt(2, 2), 1);
    CHECK_EQ(harness.step(), "1: 0+2*");
    CHECK_EQ(harness.scheduler.counters().running, 1);
    CHECK_EQ(harness.step(), "1: 2+1*");
    CHECK_EQ(harness.step(), "2: 0+2*");
}

TEST_CASE("background: it gives its slots and cells to others, one by one, and goes on afterwards") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) {
        limits.cells = 100;
        limits.sequences = 2;
    }));
    submit_behind(harness, test::own_prompt(1, 30), 60);
    submit_behind(harness, test::own_prompt(2, 30), 60);
    while (harness.scheduler.counters().decoding < 2) harness.step();
    CHECK_EQ(harness.step(), "1: 37+1*, 2: 30+1*");
    // Both slots and 69 of 100 cells are theirs: one slot is enough, with the cells of the one that had it.
    harness.submit("a", 50, 1);
    CHECK_EQ(harness.step(), "3: 0+40");
    CHECK_EQ(harness.step(), "3: 40+10*");
    CHECK_EQ(harness.scheduler.counters().preemptions, 1U);
    CHECK_EQ(harness.step(), "1: 38+1*, 2: 0+4");
    // One more that fits only without both of them.
    harness.submit("a", 90, 2);
    CHECK_EQ(harness.step(), "4: 0+40");
    CHECK_EQ(harness.scheduler.counters().preemptions, 3U);
    CHECK_EQ(harness.scheduler.counters().running, 1);
    while (!harness.scheduler.ids().empty()) harness.step();
}

TEST_CASE("background: others do not wait for a prefix that it computes, but it waits for theirs") {
    SchedulerHarness harness(kWithCache);
    submit_behind(harness, test::prompt(60, 5, 1), 9);
    harness.step();
    harness.submit("a", test::prompt(60, 5, 2), 1);
    CHECK_EQ(harness.step(), "2: 4+40");
    CHECK_EQ(harness.step(), "2: 44+21*");
    CHECK_EQ(harness.step(), "1: 4+4");
    submit_behind(harness, test::prompt(60, 5, 3), 1);
    CHECK_EQ(harness.step(), "1: 8+4");
    CHECK_EQ(harness.cached.at(3), 60);
}

TEST_CASE("background: with nothing else, requests are served like any others") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    for (RequestId id = 1; id <= 3; ++id) submit_behind(harness, test::own_prompt(id, 2), 2);
    CHECK_EQ(harness.order_of_start(20), (std::vector<RequestId>{1, 2, 3}));
    CHECK(harness.scheduler.ids().empty());
}
