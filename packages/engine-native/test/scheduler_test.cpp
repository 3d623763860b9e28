// sched::Scheduler: each rule by an example. Whole lives at random are in scheduler_random_test.cpp.
#include "sched/scheduler.h"

#include "check.h"
#include "scheduler_harness.h"

#include <map>
#include <string>
#include <vector>

using base::RequestId;
using sched::Limits;
using sched::Outcome;
using test::kRoomy;
using test::SchedulerHarness;
using test::with;

// ---- a step -----------------------------------------------------------------------------------------------

TEST_CASE("scheduler: plans nothing while no request is in flight") {
    SchedulerHarness harness(kRoomy);
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: computes a long prompt in chunks of the budget, then decodes token by token") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 20, 3);
    CHECK_EQ(harness.step(), "1: 0+8");
    CHECK_EQ(harness.step(), "1: 8+8");
    CHECK_EQ(harness.step(), "1: 16+4*");
    CHECK_EQ(harness.step(), "1: 20+1*");
    CHECK_EQ(harness.step(), "1: 21+1*");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: a prompt of one token is computed and sampled at once") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 1, 2);
    CHECK_EQ(harness.step(), "1: 0+1*");
    CHECK_EQ(harness.step(), "1: 1+1*");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: a chunk that leaves one token of the prompt is followed by an entry of one") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 9, 2);
    CHECK_EQ(harness.step(), "1: 0+8");
    CHECK_EQ(harness.step(), "1: 8+1*");
    CHECK_EQ(harness.step(), "1: 9+1*");
}

TEST_CASE("scheduler: shares one step's budget among prompts, oldest first") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 5, 5);
    harness.submit("a", 5, 5);
    harness.submit("a", 5, 5);
    CHECK_EQ(harness.step(), "1: 0+5*, 2: 0+3");
}

TEST_CASE("scheduler: decodes first, and prompts get only the busy budget then") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 5, 9);
    CHECK_EQ(harness.step(), "1: 0+5*");
    harness.submit("a", 6, 9);
    CHECK_EQ(harness.step(), "1: 5+1*, 2: 0+4");
    harness.submit("a", 3, 9);
    CHECK_EQ(harness.step(), "1: 6+1*, 2: 4+2*, 3: 0+2");
    CHECK_EQ(harness.step(), "1: 7+1*, 2: 6+1*, 3: 2+1*");
    CHECK_EQ(harness.step(), "1: 8+1*, 2: 7+1*, 3: 3+1*");
}

TEST_CASE("scheduler: decoding tokens count against the step's budget") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.batch_tokens = 5; }));
    for (int i = 0; i < 3; ++i) harness.submit("a", 1, 9);
    CHECK_EQ(harness.step(), "1: 0+1*, 2: 0+1*, 3: 0+1*");
    harness.submit("a", 9, 9);
    CHECK_EQ(harness.step(), "1: 1+1*, 2: 1+1*, 3: 1+1*, 4: 0+2");
}

TEST_CASE("scheduler: the full budget is back when nothing decodes any more") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 2, 2);
    CHECK_EQ(harness.step(), "1: 0+2*");
    harness.submit("a", 30, 2);
    CHECK_EQ(harness.step(), "1: 2+1*, 2: 0+4");
    CHECK_EQ(harness.step(), "2: 4+8");
}

// ---- slots ------------------------------------------------------------------------------------------------

TEST_CASE("scheduler: runs as many requests as there are slots, each in its own") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    for (int i = 0; i < 3; ++i) harness.submit("a", 1, 2);
    CHECK_EQ(harness.step(), "1: 0+1*, 2: 0+1*");
    CHECK(harness.slots[1] != harness.slots[2]);
    CHECK_EQ(harness.scheduler.counters().running, 2);
    CHECK_EQ(harness.scheduler.counters().waiting, 1);
}

TEST_CASE("scheduler: a slot is freed by the plan that hands it out again, once") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    harness.submit("a", 2, 1);
    harness.submit("a", 2, 1);
    CHECK_EQ(harness.step(), "1: 0+2*");
    CHECK(harness.freed.empty());
    const base::Slot slot = harness.slots[1];
    CHECK_EQ(harness.step(), "2: 0+2*");
    CHECK(harness.freed == std::vector<base::Slot>{slot});
    CHECK_EQ(harness.slots[2], slot);
    CHECK_EQ(harness.step(), "");
    CHECK(harness.freed == std::vector<base::Slot>{slot});
    CHECK_EQ(harness.step(), "");
    CHECK(harness.freed.empty());
}

// ---- admission --------------------------------------------------------------------------------------

TEST_CASE("scheduler: serves the requests of one client in order of arrival") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 4; ++i) harness.submit("a", 3, 2);
    CHECK(harness.order_of_start(100) == std::vector<RequestId>{1, 2, 3, 4});
}

TEST_CASE("scheduler: a client with one request does not wait for all of a client with many") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 4; ++i) harness.submit("a", 3, 2);
    harness.submit("b", 3, 2);
    CHECK(harness.order_of_start(100) == std::vector<RequestId>{1, 5, 2, 3, 4});
}

TEST_CASE("scheduler: clients get equal numbers of tokens, not of requests") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 2; ++i) harness.submit("a", 30, 1);
    for (int i = 0; i < 4; ++i) harness.submit("b", 12, 1);
    CHECK(harness.order_of_start(100) == std::vector<RequestId>{1, 3, 4, 5, 2, 6});
}

TEST_CASE("scheduler: a client is not starved by clients that come back as soon as they were served") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    harness.submit("a", 3, 1);
    const RequestId second_of_a = harness.submit("a", 3, 1);
    harness.submit("b", 3, 1);
    harness.submit("c", 3, 1);
    bool is_served = false;
    // One request is served per step; by then b and c have each had ten times what a asks for.
    for (int i = 0; i < 24 && !is_served; ++i) {
        harness.step();
        is_served = harness.slots.contains(second_of_a);
        if (i > 0) harness.submit(i % 2 == 1 ? "b" : "c", 3, 1);
    }
    CHECK(is_served);
}

TEST_CASE("scheduler: admits a request only if its tokens and some cells ahead are free") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    harness.submit("a", 60, 40);
    harness.submit("a", 37, 10);
    CHECK_EQ(harness.step(), "1: 0+8");
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 62);
    CHECK_EQ(harness.scheduler.counters().waiting, 1);

    SchedulerHarness exact(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    exact.submit("a", 60, 40);
    exact.submit("a", 36, 10);
    CHECK_EQ(exact.step(), "1: 0+8");
    CHECK_EQ(exact.scheduler.counters().cells_reserved, 100);
    CHECK_EQ(exact.scheduler.counters().waiting, 0);
}

TEST_CASE("scheduler: reserves no cell for the last token, which is never computed") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 10, 2);
    harness.submit("a", 10, 1);
    harness.step();
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 11 + 10);
}

TEST_CASE("scheduler: a large request is not passed by small ones") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    harness.submit("a", 8, 2);
    harness.submit("a", 95, 1);
    harness.submit("b", 1, 1);
    harness.submit("a", 1, 1);
    CHECK_EQ(harness.step(), "1: 0+8*");
    // b has had less than a and goes first; then the large one is next, and the last one does not pass it.
    CHECK_EQ(harness.step(), "1: 8+1*, 3: 0+1*");
    CHECK_EQ(harness.step(), "2: 0+8");
    CHECK_EQ(harness.scheduler.counters().waiting, 0);
}

TEST_CASE("scheduler: a large request at the head keeps a small one of the same client waiting") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    harness.submit("a", 8, 3);
    harness.submit("a", 95, 1);
    harness.submit("a", 1, 1);
    CHECK_EQ(harness.step(), "1: 0+8*");
    CHECK_EQ(harness.step(), "1: 8+1*");
    CHECK_EQ(harness.scheduler.counters().waiting, 2);
    CHECK_EQ(harness.step(), "1: 9+1*");
    CHECK_EQ(harness.step(), "2: 0+8");
}

// ---- cells run out ----------------------------------------------------------------------------------------

namespace {

/// Two requests fit at first, but not to their ends.
constexpr Limits kTight{.cells = 12,
                        .context_length = 12,
                        .sequences = 3,
                        .cached_sequences = 0,
                        .batch_tokens = 12,
                        .checkpoints = 0,
                        .reserve_ahead = 1};

} // namespace

TEST_CASE("scheduler: one request may use every cell") {
    SchedulerHarness harness(kTight, 12);
    harness.submit("a", 4, 8);
    CHECK_EQ(harness.step(), "1: 0+4*");
    for (int32_t first = 4; first < 11; ++first) {
        CHECK_EQ(harness.step(), "1: " + std::to_string(first) + "+1*");
    }
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.scheduler.counters().preemptions, 0U);
}

TEST_CASE(
    "scheduler: the youngest is preempted when cells run out, and computes all its tokens again later") {
    SchedulerHarness harness(kTight, 12);
    harness.submit("a", 4, 8);
    harness.submit("a", 4, 4);
    CHECK_EQ(harness.step(), "1: 0+4*, 2: 0+4*");
    const base::Slot slot = harness.slots[2];
    CHECK_EQ(harness.step(), "1: 4+1*, 2: 4+1*");
    CHECK_EQ(harness.step(), "1: 5+1*");
    CHECK(harness.freed == std::vector<base::Slot>{slot});
    CHECK_EQ(harness.scheduler.counters().preemptions, 1U);
    CHECK_EQ(harness.scheduler.counters().waiting, 1);
    for (int32_t first = 6; first < 11; ++first) {
        CHECK_EQ(harness.step(), "1: " + std::to_string(first) + "+1*");
    }
    CHECK_EQ(harness.step(), "2: 0+6*");
    CHECK_EQ(harness.step(), "2: 6+1*");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: a preempted request goes before all waiting ones") {
    SchedulerHarness harness(kTight, 12);
    harness.submit("a", 4, 8);
    harness.submit("a", 4, 4);
    harness.submit("b", 9, 1);
    harness.submit("b", 1, 1);
    for (int i = 0; i < 8; ++i) harness.step();
    REQUIRE(harness.scheduler.counters().preemptions == 1);
    CHECK_EQ(harness.step(), "2: 0+6*");
    CHECK_EQ(harness.step(), "2: 6+1*");
    CHECK_EQ(harness.step(), "3: 0+9*, 4: 0+1*");
}

TEST_CASE("scheduler: the oldest is never preempted, whichever request needs the cell") {
    SchedulerHarness harness(kTight, 12);
    harness.submit("a", 4, 8);
    harness.submit("a", 3, 9);
    int steps = 0;
    while (harness.scheduler.ids().front() == 1) {
        harness.step();
        CHECK(harness.slots.contains(1));
        steps += 1;
        REQUIRE(steps <= 8);
    }
    CHECK_EQ(steps, 8);
    CHECK(harness.scheduler.counters().preemptions > 0);
}

TEST_CASE("scheduler: a request of a higher priority takes the slot of the youngest of a lower one, computes "
          "first and "
          "keeps its cells") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    const auto submit = [&](int32_t priority, int32_t tokens) {
        return harness.submit({.id = 0,
                               .client = "a",
                               .priority = priority,
                               .prompt = test::own_prompt(priority + 2, tokens),
                               .generate_max = 3,
                               .uses_cache = true});
    };
    harness.submit("a", 2, 9);
    harness.submit("a", 2, 9);
    CHECK_EQ(harness.step(), "1: 0+2*, 2: 0+2*");
    submit(-1, 2);
    CHECK_EQ(harness.step(), "1: 2+1*, 2: 2+1*");
    submit(1, 4);
    CHECK_EQ(harness.step(), "1: 3+1*, 4: 0+4*");
    CHECK_EQ(harness.scheduler.counters().preemptions, 1U);
    CHECK_EQ(harness.step(), "4: 4+1*, 1: 4+1*");
    CHECK_EQ(harness.step(), "4: 5+1*, 1: 5+1*");
    CHECK_EQ(harness.step(), "1: 6+1*, 2: 0+4*");
    CHECK_EQ(harness.scheduler.counters().waiting, 1);
}

// ---- ends -------------------------------------------------------------------------------------------------

TEST_CASE("scheduler: a request ends when its outcome is finished, even before generate_max") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 3, 50);
    harness.step();
    CHECK_EQ(harness.step({{1, Outcome::Kind::finished}}), "1: 3+1*");
    CHECK_EQ(harness.step(), "");
    CHECK(harness.scheduler.ids().empty());
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("scheduler: a failed entry ends its request and no other") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 3, 5);
    harness.submit("a", 20, 5);
    CHECK_EQ(harness.step(), "1: 0+3*, 2: 0+5");
    const base::Slot slot = harness.slots[2];
    CHECK_EQ(harness.step({{2, Outcome::Kind::failed}}), "1: 3+1*, 2: 5+4");
    CHECK_EQ(harness.step(), "1: 4+1*");
    CHECK(harness.freed == std::vector<base::Slot>{slot});
    CHECK(harness.scheduler.ids() == std::vector<RequestId>{1});
}

TEST_CASE("scheduler: cancels a request that waits") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 3; ++i) harness.submit("a", 3, 1);
    CHECK_EQ(harness.step(), "1: 0+3*");
    CHECK(harness.scheduler.cancel(2));
    harness.scheduler.check_integrity();
    CHECK_EQ(harness.step(), "3: 0+3*");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: cancels a request in the middle of its prompt") {
    SchedulerHarness harness(kRoomy);
    harness.submit("a", 20, 1);
    CHECK_EQ(harness.step(), "1: 0+8");
    const base::Slot slot = harness.slots[1];
    CHECK(harness.scheduler.cancel(1));
    harness.scheduler.check_integrity();
    CHECK_EQ(harness.step(), "");
    CHECK(harness.freed == std::vector<base::Slot>{slot});
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("scheduler: cancels a decoding request, and gives its slot to the next one in the same step") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    harness.submit("a", 3, 9);
    harness.submit("a", 3, 9);
    harness.step();
    CHECK_EQ(harness.step(), "1: 3+1*");
    CHECK(harness.scheduler.cancel(1));
    CHECK_EQ(harness.step(), "2: 0+3*");
    CHECK(harness.freed == std::vector<base::Slot>{harness.slots[2]});
}

TEST_CASE("scheduler: cancels a request that was preempted") {
    SchedulerHarness harness(kTight, 12);
    harness.submit("a", 4, 8);
    harness.submit("a", 4, 4);
    for (int i = 0; i < 4; ++i) harness.step();
    REQUIRE(harness.scheduler.counters().preemptions == 1);
    CHECK(harness.scheduler.cancel(2));
    harness.scheduler.check_integrity();
    for (int i = 0; i < 4; ++i) harness.step();
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("scheduler: reports when there is no such request to cancel") {
    SchedulerHarness harness(kRoomy);
    CHECK(!harness.scheduler.cancel(1));
    harness.submit("a", 3, 1);
    CHECK(harness.scheduler.cancel(1));
    CHECK(!harness.scheduler.cancel(1));
}

// ---- queries ----------------------------------------------------------------------------------------

TEST_CASE("scheduler: lists all requests in flight, oldest first, and counts them") {
    SchedulerHarness harness(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    for (int i = 0; i < 5; ++i) harness.submit(i % 2 == 0 ? "a" : "b", 3, 4);
    harness.step();
    harness.scheduler.cancel(2);
    CHECK(harness.scheduler.ids() == std::vector<RequestId>{1, 3, 4, 5});
    const sched::Counters counters = harness.scheduler.counters();
    CHECK_EQ(counters.running, 1);
    CHECK_EQ(counters.waiting, 3);
    CHECK_EQ(counters.cells_reserved, 5);
    CHECK_EQ(counters.preemptions, 0U);
}

TEST_CASE("scheduler: the same calls give the same plans") {
    const auto plans = [] {
        SchedulerHarness harness(kTight, 12);
        std::string all;
        for (int i = 0; i < 40; ++i) {
            if (i % 3 == 0)
                harness.submit(std::string(1, static_cast<char>('a' + i % 5)), 1 + i % 5, 1 + i % 7);
            all += harness.step() + "\n";
        }
        return all;
    };
    CHECK_EQ(plans(), plans());
}
