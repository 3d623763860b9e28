// sched::Scheduler: requests that go on past the context's end, by examples.
#include "check.h"
#include "house.h"

#include <string>
#include <vector>

using base::RequestId;
using base::Token;
using sched::Limits;
using sched::Turns;
using test::House;
using test::own_prompt;
using test::with;

namespace {

constexpr int32_t kContextLength = 64;

constexpr Limits kShifting{.cells = 400,
                           .context_length = kContextLength,
                           .sequences = 3,
                           .donors = 3,
                           .batch_tokens = 80,
                           .checkpoints = 0,
                           .reserve_ahead = 4,
                           .can_shift = true};

constexpr Limits kRecomputing = with(kShifting, [](Limits& limits) { limits.can_shift = false; });

/// Submits a request that keeps 20 tokens; its text and its end are its own.
RequestId submit(House& house, std::vector<Token> prompt, int32_t generate_max,
                 std::vector<int32_t> ends = {}) {
    return house.submit("a", std::move(prompt), generate_max, true, {},
                        Turns{.keep = 20, .ends = std::move(ends)});
}

/// A beginning that many have, and an end of one's own.
std::vector<Token> prompt(int32_t common, int32_t own, Token name) {
    std::vector<Token> tokens = own_prompt(99, common);
    for (Token i = 0; i < own; ++i) tokens.push_back(10'000 * name + i);
    return tokens;
}

/// Turns until one in which somebody is cut: that one in words.
std::string turn_of_cut(House& house) {
    for (int turns = 0; turns < 200; ++turns) {
        std::string words = house.turn();
        if (!house.shifts.empty()) return words;
    }
    return "nobody is cut";
}

} // namespace

TEST_CASE("shift: who fills the context drops the half after the kept part, moves the rest and goes on") {
    House house(kShifting);
    submit(house, own_prompt(1, 60), 30);
    for (int i = 0; i < 4; ++i) house.turn();
    CHECK_EQ(house.slots.count(1), 1U);
    // 64 tokens are known and 63 computed; 22 of the 44 after the first 20 go.
    CHECK_EQ(house.turn(), "1: 41+1*");
    REQUIRE_EQ(house.shifts.size(), 1U);
    CHECK(!house.shifts[0].is_recomputed);
    REQUIRE_EQ(house.moved.size(), 1U);
    CHECK_EQ(house.moved[0].length, 20);
    CHECK_EQ(house.moved[0].dropped, 22);
    CHECK_EQ(house.turn(), "1: 42+1*");
    CHECK_EQ(house.scheduler.counters().shifts, 1U);
    CHECK_EQ(house.scheduler.counters().preemptions, 0U);
}

TEST_CASE("shift: whole messages go where one ends near the middle") {
    House house(kShifting);
    submit(house, own_prompt(1, 60), 30, {30, 50});
    CHECK_EQ(turn_of_cut(house), "1: 33+1*");
    CHECK_EQ(house.shifts[0].cut.drop, 30);
}

TEST_CASE(
    "shift: a request is cut as often as it fills the context, and ends when it has generated what it may") {
    House house(kShifting);
    submit(house, own_prompt(1, 40), 200);
    int turns = 0;
    while (!house.turn().empty()) turns += 1;
    CHECK_EQ(turns, 200);
    CHECK_EQ(house.scheduler.counters().shifts, 8U);
    CHECK(house.scheduler.ids().empty());
    CHECK_EQ(house.scheduler.counters().cells_reserved, 0);
}

TEST_CASE("shift: where cells cannot be moved, what is left is computed anew at once") {
    House house(kRecomputing);
    submit(house, own_prompt(1, 60), 30);
    CHECK_EQ(turn_of_cut(house), "1: 20+22*");
    CHECK(house.shifts[0].is_recomputed);
    CHECK(house.moved.empty());
    // The kept part was there.
    CHECK_EQ(house.cached[1], 20);
    CHECK_EQ(house.turn(), "1: 42+1*");
    CHECK_EQ(house.scheduler.counters().preemptions, 0U);
}

TEST_CASE("shift: cells that another running request holds too are not moved") {
    House house(kShifting);
    submit(house, prompt(60, 1, 1), 30);
    house.turn();
    submit(house, prompt(60, 1, 2), 30);
    CHECK_EQ(house.turn(), "1: 61+1*, 2: 60+1*");
    // The first one's cut ends at 42, and what lies behind is common up to 60.
    CHECK_EQ(turn_of_cut(house), "2: 62+1*, 1: 20+4");
    CHECK(house.shifts[0].is_recomputed);
    // Now only the second holds them.
    CHECK_EQ(house.turn(), "2: 41+1*, 1: 24+4");
    REQUIRE_EQ(house.shifts.size(), 1U);
    CHECK(!house.shifts[0].is_recomputed);
}

TEST_CASE("shift: cells that go may be another's too, and stay with it") {
    House house(kShifting);
    submit(house, prompt(40, 20, 1), 30);
    house.turn();
    house.submit("b", prompt(40, 10, 2), 14);
    CHECK_EQ(turn_of_cut(house), "1: 41+1*, 2: 50+1*");
    CHECK(!house.shifts[0].is_recomputed);
    CHECK_EQ(house.turn(), "1: 42+1*, 2: 51+1*");
}

TEST_CASE("shift: an ended request that holds what has to move is given up") {
    House house(kShifting);
    house.submit("a", prompt(60, 0, 1), 1);
    house.turn();
    CHECK_EQ(house.scheduler.counters().cells_cached, 60);
    submit(house, prompt(60, 1, 1), 30);
    CHECK_EQ(turn_of_cut(house), "2: 41+1*");
    CHECK(!house.shifts[0].is_recomputed);
    CHECK_EQ(house.scheduler.counters().cells_cached, 0);
}

TEST_CASE("shift: what was moved is shared with nobody, what was kept still is") {
    House house(kShifting);
    submit(house, own_prompt(1, 60), 30);
    turn_of_cut(house);
    // Just the tokens that the first one has now: 20 kept, and from 42 on those that moved.
    std::vector<Token> same = own_prompt(1, 60);
    same.erase(same.begin() + 20, same.begin() + 42);
    same.push_back(7);
    house.submit("b", same, 9);
    CHECK_EQ(house.turn(), "1: 42+1*, 2: 20+4");
    CHECK(house.scheduler.cancel(1));
    CHECK(house.scheduler.cancel(2));
    house.turn();
    // The first left its kept part only, the second all that it computed.
    CHECK_EQ(house.scheduler.counters().cells_cached, 24);
}

TEST_CASE("shift: one that was moved and is preempted computes its shortened text anew") {
    House house(with(kShifting, [](Limits& limits) {
        limits.cells = kContextLength;
        limits.reserve_ahead = 1;
    }));
    house.submit("a", own_prompt(1, 10), 50);
    submit(house, own_prompt(2, 30), 100);
    while (house.scheduler.counters().preemptions == 0) REQUIRE(house.turn() != "");
    while (house.scheduler.ids().size() == 2) REQUIRE(house.turn() != "");
    int turns = 0;
    while (!house.scheduler.ids().empty()) {
        REQUIRE(turns++ < 200);
        house.turn();
    }
    CHECK(house.scheduler.counters().shifts > 0);
}
