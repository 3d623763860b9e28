// sched::Scheduler: each rule by an example. Whole lives at random are in scheduler_random_test.cpp.
#include "sched/scheduler.h"

#include "check.h"
#include "house.h"

#include <map>
#include <string>
#include <vector>

using base::RequestId;
using sched::Limits;
using sched::Outcome;
using test::House;
using test::kRoomy;
using test::with;

// ---- a turn -----------------------------------------------------------------------------------------------

TEST_CASE("scheduler: plans nothing when nobody is in the house") {
    House house(kRoomy);
    CHECK_EQ(house.turn(), "");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: computes a long prompt in chunks of the budget, then decodes token by token") {
    House house(kRoomy);
    house.submit("a", 20, 3);
    CHECK_EQ(house.turn(), "1: 0+8");
    CHECK_EQ(house.turn(), "1: 8+8");
    CHECK_EQ(house.turn(), "1: 16+4*");
    CHECK_EQ(house.turn(), "1: 20+1*");
    CHECK_EQ(house.turn(), "1: 21+1*");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: a prompt of one token is computed and sampled at once") {
    House house(kRoomy);
    house.submit("a", 1, 2);
    CHECK_EQ(house.turn(), "1: 0+1*");
    CHECK_EQ(house.turn(), "1: 1+1*");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: a chunk that leaves one token of the prompt is followed by a step of one") {
    House house(kRoomy);
    house.submit("a", 9, 2);
    CHECK_EQ(house.turn(), "1: 0+8");
    CHECK_EQ(house.turn(), "1: 8+1*");
    CHECK_EQ(house.turn(), "1: 9+1*");
}

TEST_CASE("scheduler: shares one turn's budget among prompts, oldest first") {
    House house(kRoomy);
    house.submit("a", 5, 5);
    house.submit("a", 5, 5);
    house.submit("a", 5, 5);
    CHECK_EQ(house.turn(), "1: 0+5*, 2: 0+3");
}

TEST_CASE("scheduler: decodes before it computes prompts, which then get the busy budget only") {
    House house(kRoomy);
    house.submit("a", 5, 9);
    CHECK_EQ(house.turn(), "1: 0+5*");
    house.submit("a", 6, 9);
    CHECK_EQ(house.turn(), "1: 5+1*, 2: 0+4");
    house.submit("a", 3, 9);
    CHECK_EQ(house.turn(), "1: 6+1*, 2: 4+2*, 3: 0+2");
    CHECK_EQ(house.turn(), "1: 7+1*, 2: 6+1*, 3: 2+1*");
    CHECK_EQ(house.turn(), "1: 8+1*, 2: 7+1*, 3: 3+1*");
}

TEST_CASE("scheduler: decoding tokens count against the turn's budget") {
    House house(with(kRoomy, [](Limits& limits) { limits.batch_tokens = 5; }));
    for (int i = 0; i < 3; ++i) house.submit("a", 1, 9);
    CHECK_EQ(house.turn(), "1: 0+1*, 2: 0+1*, 3: 0+1*");
    house.submit("a", 9, 9);
    CHECK_EQ(house.turn(), "1: 1+1*, 2: 1+1*, 3: 1+1*, 4: 0+2");
}

TEST_CASE("scheduler: the full budget is back when nobody decodes any more") {
    House house(kRoomy);
    house.submit("a", 2, 2);
    CHECK_EQ(house.turn(), "1: 0+2*");
    house.submit("a", 30, 2);
    CHECK_EQ(house.turn(), "1: 2+1*, 2: 0+4");
    CHECK_EQ(house.turn(), "2: 4+8");
}

// ---- slots ------------------------------------------------------------------------------------------------

TEST_CASE("scheduler: runs as many requests as there are slots, each in its own") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    for (int i = 0; i < 3; ++i) house.submit("a", 1, 2);
    CHECK_EQ(house.turn(), "1: 0+1*, 2: 0+1*");
    CHECK(house.slots[1] != house.slots[2]);
    CHECK_EQ(house.scheduler.counters().running, 2);
    CHECK_EQ(house.scheduler.counters().waiting, 1);
}

TEST_CASE("scheduler: a slot is released by the plan that hands it out again, once") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    house.submit("a", 2, 1);
    house.submit("a", 2, 1);
    CHECK_EQ(house.turn(), "1: 0+2*");
    CHECK(house.released.empty());
    const base::Slot slot = house.slots[1];
    CHECK_EQ(house.turn(), "2: 0+2*");
    CHECK(house.released == std::vector<base::Slot>{slot});
    CHECK_EQ(house.slots[2], slot);
    CHECK_EQ(house.turn(), "");
    CHECK(house.released == std::vector<base::Slot>{slot});
    CHECK_EQ(house.turn(), "");
    CHECK(house.released.empty());
}

// ---- who is admitted --------------------------------------------------------------------------------------

TEST_CASE("scheduler: serves the requests of one client in order of arrival") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 4; ++i) house.submit("a", 3, 2);
    CHECK(house.order_of_start(100) == std::vector<RequestId>{1, 2, 3, 4});
}

TEST_CASE("scheduler: a client with one request does not wait for all of a client with many") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 4; ++i) house.submit("a", 3, 2);
    house.submit("b", 3, 2);
    CHECK(house.order_of_start(100) == std::vector<RequestId>{1, 5, 2, 3, 4});
}

TEST_CASE("scheduler: clients get equal numbers of tokens, not of requests") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 2; ++i) house.submit("a", 30, 1);
    for (int i = 0; i < 4; ++i) house.submit("b", 12, 1);
    CHECK(house.order_of_start(100) == std::vector<RequestId>{1, 3, 4, 5, 2, 6});
}

TEST_CASE("scheduler: a client is not starved by clients that come back as soon as they were served") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    house.submit("a", 3, 1);
    const RequestId second_of_a = house.submit("a", 3, 1);
    house.submit("b", 3, 1);
    house.submit("c", 3, 1);
    bool is_served = false;
    // One request is served a turn; by then b and c have each had ten times what a asks for.
    for (int i = 0; i < 24 && !is_served; ++i) {
        house.turn();
        is_served = house.slots.contains(second_of_a);
        if (i > 0) house.submit(i % 2 == 1 ? "b" : "c", 3, 1);
    }
    CHECK(is_served);
}

TEST_CASE("scheduler: admits only when the tokens and some room ahead have cells") {
    House house(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    house.submit("a", 60, 40);
    house.submit("a", 37, 10);
    CHECK_EQ(house.turn(), "1: 0+8");
    CHECK_EQ(house.scheduler.counters().cells_reserved, 62);
    CHECK_EQ(house.scheduler.counters().waiting, 1);

    House exact(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    exact.submit("a", 60, 40);
    exact.submit("a", 36, 10);
    CHECK_EQ(exact.turn(), "1: 0+8");
    CHECK_EQ(exact.scheduler.counters().cells_reserved, 100);
    CHECK_EQ(exact.scheduler.counters().waiting, 0);
}

TEST_CASE("scheduler: reserves no cell for the last token, which is never computed") {
    House house(kRoomy);
    house.submit("a", 10, 2);
    house.submit("a", 10, 1);
    house.turn();
    CHECK_EQ(house.scheduler.counters().cells_reserved, 11 + 10);
}

TEST_CASE("scheduler: a large request is not passed by small ones") {
    House house(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    house.submit("a", 8, 2);
    house.submit("a", 95, 1);
    house.submit("b", 1, 1);
    house.submit("a", 1, 1);
    CHECK_EQ(house.turn(), "1: 0+8*");
    // b has had less than a and goes first; then the large one is next, and the last one does not pass it.
    CHECK_EQ(house.turn(), "1: 8+1*, 3: 0+1*");
    CHECK_EQ(house.turn(), "2: 0+8");
    CHECK_EQ(house.scheduler.counters().waiting, 0);
}

TEST_CASE("scheduler: a large request at the head keeps a small one of the same client waiting") {
    House house(with(kRoomy, [](Limits& limits) { limits.cells = 100; }));
    house.submit("a", 8, 3);
    house.submit("a", 95, 1);
    house.submit("a", 1, 1);
    CHECK_EQ(house.turn(), "1: 0+8*");
    CHECK_EQ(house.turn(), "1: 8+1*");
    CHECK_EQ(house.scheduler.counters().waiting, 2);
    CHECK_EQ(house.turn(), "1: 9+1*");
    CHECK_EQ(house.turn(), "2: 0+8");
}

// ---- cells run out ----------------------------------------------------------------------------------------

namespace {

/// Two requests that fit at first and not to the end.
constexpr Limits kTight{.cells = 12,
                        .context_length = 12,
                        .sequences = 3,
                        .donors = 0,
                        .batch_tokens = 12,
                        .checkpoints = 0,
                        .reserve_ahead = 1};

} // namespace

TEST_CASE("scheduler: one request may use every cell") {
    House house(kTight, 12);
    house.submit("a", 4, 8);
    CHECK_EQ(house.turn(), "1: 0+4*");
    for (int32_t first = 4; first < 11; ++first) {
        CHECK_EQ(house.turn(), "1: " + std::to_string(first) + "+1*");
    }
    CHECK_EQ(house.turn(), "");
    CHECK_EQ(house.scheduler.counters().preemptions, 0U);
}

TEST_CASE("scheduler: the youngest gives way when cells run out, and computes all its tokens anew later") {
    House house(kTight, 12);
    house.submit("a", 4, 8);
    house.submit("a", 4, 4);
    CHECK_EQ(house.turn(), "1: 0+4*, 2: 0+4*");
    const base::Slot slot = house.slots[2];
    CHECK_EQ(house.turn(), "1: 4+1*, 2: 4+1*");
    CHECK_EQ(house.turn(), "1: 5+1*");
    CHECK(house.released == std::vector<base::Slot>{slot});
    CHECK_EQ(house.scheduler.counters().preemptions, 1U);
    CHECK_EQ(house.scheduler.counters().waiting, 1);
    for (int32_t first = 6; first < 11; ++first) {
        CHECK_EQ(house.turn(), "1: " + std::to_string(first) + "+1*");
    }
    CHECK_EQ(house.turn(), "2: 0+6*");
    CHECK_EQ(house.turn(), "2: 6+1*");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: a preempted request goes before everybody who waits") {
    House house(kTight, 12);
    house.submit("a", 4, 8);
    house.submit("a", 4, 4);
    house.submit("b", 9, 1);
    house.submit("b", 1, 1);
    for (int i = 0; i < 8; ++i) house.turn();
    REQUIRE(house.scheduler.counters().preemptions == 1);
    CHECK_EQ(house.turn(), "2: 0+6*");
    CHECK_EQ(house.turn(), "2: 6+1*");
    CHECK_EQ(house.turn(), "3: 0+9*, 4: 0+1*");
}

TEST_CASE("scheduler: the oldest is never the one to give way, whoever asks for the cell") {
    House house(kTight, 12);
    house.submit("a", 4, 8);
    house.submit("a", 3, 9);
    int turns = 0;
    while (house.scheduler.ids().front() == 1) {
        house.turn();
        CHECK(house.slots.contains(1));
        turns += 1;
        REQUIRE(turns <= 8);
    }
    CHECK_EQ(turns, 8);
    CHECK(house.scheduler.counters().preemptions > 0);
}

// ---- ends -------------------------------------------------------------------------------------------------

TEST_CASE("scheduler: a request ends when its outcome says finished, however much it might have generated") {
    House house(kRoomy);
    house.submit("a", 3, 50);
    house.turn();
    CHECK_EQ(house.turn({{1, Outcome::Kind::finished}}), "1: 3+1*");
    CHECK_EQ(house.turn(), "");
    CHECK(house.scheduler.ids().empty());
    CHECK_EQ(house.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("scheduler: a failed step ends its request and no other") {
    House house(kRoomy);
    house.submit("a", 3, 5);
    house.submit("a", 20, 5);
    CHECK_EQ(house.turn(), "1: 0+3*, 2: 0+5");
    const base::Slot slot = house.slots[2];
    CHECK_EQ(house.turn({{2, Outcome::Kind::failed}}), "1: 3+1*, 2: 5+4");
    CHECK_EQ(house.turn(), "1: 4+1*");
    CHECK(house.released == std::vector<base::Slot>{slot});
    CHECK(house.scheduler.ids() == std::vector<RequestId>{1});
}

TEST_CASE("scheduler: cancels a request that waits") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    for (int i = 0; i < 3; ++i) house.submit("a", 3, 1);
    CHECK_EQ(house.turn(), "1: 0+3*");
    CHECK(house.scheduler.cancel(2));
    house.scheduler.check_integrity();
    CHECK_EQ(house.turn(), "3: 0+3*");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: cancels a request in the middle of its prompt") {
    House house(kRoomy);
    house.submit("a", 20, 1);
    CHECK_EQ(house.turn(), "1: 0+8");
    const base::Slot slot = house.slots[1];
    CHECK(house.scheduler.cancel(1));
    house.scheduler.check_integrity();
    CHECK_EQ(house.turn(), "");
    CHECK(house.released == std::vector<base::Slot>{slot});
    CHECK_EQ(house.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("scheduler: cancels a request that is decoding, and gives its place to the next in the same turn") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 1; }));
    house.submit("a", 3, 9);
    house.submit("a", 3, 9);
    house.turn();
    CHECK_EQ(house.turn(), "1: 3+1*");
    CHECK(house.scheduler.cancel(1));
    CHECK_EQ(house.turn(), "2: 0+3*");
    CHECK(house.released == std::vector<base::Slot>{house.slots[2]});
}

TEST_CASE("scheduler: cancels a request that was preempted") {
    House house(kTight, 12);
    house.submit("a", 4, 8);
    house.submit("a", 4, 4);
    for (int i = 0; i < 4; ++i) house.turn();
    REQUIRE(house.scheduler.counters().preemptions == 1);
    CHECK(house.scheduler.cancel(2));
    house.scheduler.check_integrity();
    for (int i = 0; i < 4; ++i) house.turn();
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("scheduler: says when there is no such request to cancel") {
    House house(kRoomy);
    CHECK(!house.scheduler.cancel(1));
    house.submit("a", 3, 1);
    CHECK(house.scheduler.cancel(1));
    CHECK(!house.scheduler.cancel(1));
}

// ---- what it tells ----------------------------------------------------------------------------------------

TEST_CASE("scheduler: lists everybody in the house, oldest first, and counts them") {
    House house(with(kRoomy, [](Limits& limits) { limits.sequences = 2; }));
    for (int i = 0; i < 5; ++i) house.submit(i % 2 == 0 ? "a" : "b", 3, 4);
    house.turn();
    house.scheduler.cancel(2);
    CHECK(house.scheduler.ids() == std::vector<RequestId>{1, 3, 4, 5});
    const sched::Counters counters = house.scheduler.counters();
    CHECK_EQ(counters.running, 1);
    CHECK_EQ(counters.waiting, 3);
    CHECK_EQ(counters.cells_reserved, 5);
    CHECK_EQ(counters.preemptions, 0U);
}

TEST_CASE("scheduler: the same calls give the same plans") {
    const auto plans = [] {
        House house(kTight, 12);
        std::string all;
        for (int i = 0; i < 40; ++i) {
            if (i % 3 == 0)
                house.submit(std::string(1, static_cast<char>('a' + i % 5)), 1 + i % 5, 1 + i % 7);
            all += house.turn() + "\n";
        }
        return all;
    };
    CHECK_EQ(plans(), plans());
}
