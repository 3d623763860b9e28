// sched::Scheduler: what requests that begin alike share, by examples.
#include "check.h"
#include "house.h"

#include <string>
#include <vector>

using base::RequestId;
using base::Token;
using sched::Limits;
using test::House;
using test::kWithDonors;
using test::with;

namespace {

/// A beginning that many have, and an end of one's own.
std::vector<Token> prompt(int32_t common, int32_t own, Token name) {
    std::vector<Token> tokens;
    for (Token i = 0; i < common; ++i) tokens.push_back(i);
    for (Token i = 0; i < own; ++i) tokens.push_back(10'000 * name + i);
    return tokens;
}

/// Turns until nobody is in the house.
void finish(House& house) {
    for (int turns = 0; !house.scheduler.ids().empty(); ++turns) {
        REQUIRE(turns < 200);
        house.turn();
    }
}

} // namespace

TEST_CASE("sharing: a beginning that another has computed is not computed again") {
    House house(kWithDonors);
    house.submit("a", prompt(30, 5, 1), 9);
    CHECK_EQ(house.turn(), "1: 0+35*");
    house.submit("b", prompt(30, 3, 2), 9);
    CHECK_EQ(house.turn(), "1: 35+1*, 2: 30+3*");
    CHECK_EQ(house.cached[2], 30);
    // 30 shared once, the rest each its own, two ahead each.
    CHECK_EQ(house.scheduler.counters().cells_reserved, 30 + (5 + 2) + (3 + 2));
}

TEST_CASE(
    "sharing: requests that arrive together compute their beginning once, and the later ones wait for it") {
    House house(with(kWithDonors, [](Limits& limits) { limits.batch_tokens = 20; }));
    for (Token name = 1; name <= 3; ++name) house.submit("a", prompt(60, 5, name), 2);
    CHECK_EQ(house.turn(), "1: 0+20");
    CHECK_EQ(house.turn(), "1: 20+20");
    CHECK_EQ(house.turn(), "1: 40+20");
    CHECK_EQ(house.scheduler.counters().waiting, 2);
    CHECK_EQ(house.turn(), "1: 60+5*, 2: 60+5*, 3: 60+5*");
    CHECK_EQ(house.cached[2], 60);
    CHECK_EQ(house.cached[3], 60);
}

TEST_CASE("sharing: who waits for another's computation does not keep others waiting") {
    House house(kWithDonors);
    house.submit("a", prompt(80, 5, 1), 2);
    house.submit("a", prompt(80, 5, 2), 2);
    house.submit("a", prompt(0, 5, 3), 2);
    CHECK_EQ(house.turn(), "1: 0+40");
    CHECK_EQ(house.scheduler.counters().running, 2);
    CHECK_EQ(house.scheduler.counters().waiting, 1);
    CHECK_EQ(house.turn(), "1: 40+40");
    CHECK_EQ(house.turn(), "1: 80+5*, 2: 80+5*, 3: 0+5*");
}

TEST_CASE("sharing: the last few common tokens are not waited for") {
    House house(with(kWithDonors, [](Limits& limits) { limits.batch_tokens = 30; }));
    house.submit("a", prompt(40, 5, 1), 2);
    house.submit("a", prompt(40, 5, 2), 2);
    CHECK_EQ(house.turn(), "1: 0+30");
    CHECK_EQ(house.turn(), "1: 30+15*, 2: 30+15*");
}

TEST_CASE("sharing: when the one who computes is cancelled, the next goes on from there") {
    House house(kWithDonors);
    house.submit("a", prompt(80, 5, 1), 2);
    house.submit("a", prompt(80, 5, 2), 2);
    CHECK_EQ(house.turn(), "1: 0+40");
    CHECK(house.scheduler.cancel(1));
    CHECK_EQ(house.turn(), "2: 40+40");
    CHECK_EQ(house.cached[2], 40);
}

TEST_CASE("sharing: an ended request leaves its tokens to a chat's next turn") {
    House house(kWithDonors);
    house.submit("a", prompt(30, 5, 1), 4);
    finish(house);
    CHECK_EQ(house.scheduler.counters().cells_reserved, 0);
    // The last token was only sampled.
    CHECK_EQ(house.scheduler.counters().cells_cached, 38);
    std::vector<Token> next = prompt(30, 5, 1);
    for (const Token left : {3, 2, 1, 0}) next.push_back(1000 + 500 + left);
    next.insert(next.end(), 6, 7);
    house.submit("a", next, 4);
    CHECK_EQ(house.turn(), "2: 38+7*");
}

TEST_CASE("sharing: the last token of a prompt is always computed") {
    House house(kWithDonors);
    house.submit("a", prompt(30, 0, 1), 1);
    finish(house);
    house.submit("a", prompt(30, 0, 1), 1);
    CHECK_EQ(house.turn(), "2: 29+1*");
}

TEST_CASE("sharing: a common beginning is shared however short it is, as a template's first tokens are") {
    for (const int32_t common : {1, 5, 15}) {
        CAPTURE(common);
        House house(kWithDonors);
        house.submit("a", prompt(common, 20, 1), 1);
        finish(house);
        house.submit("a", prompt(common, 20, 2), 1);
        house.turn();
        CHECK_EQ(house.cached[2], common);
    }
}

TEST_CASE("sharing: a donor of which only a short beginning is shared is kept no longer for it") {
    // Room for two conversations and what is running.
    House house(with(kWithDonors, [](auto& limits) { limits.cells = 110; }));
    for (int32_t chat = 1; chat <= 4; ++chat) {
        house.submit("a", prompt(4, 40, chat), 1);
        finish(house);
    }
    const base::RequestId id = house.submit("a", prompt(4, 40, 1), 1);
    finish(house);
    CHECK_EQ(house.cached[id], 4);
}

TEST_CASE("sharing: a short conversation is the first to go, and costs no longer one its place") {
    House house(with(kWithDonors, [](auto& limits) { limits.sequences = 1; }));
    // As many long ones as are kept, and then short ones that end one after the other.
    for (int32_t chat = 1; chat <= kWithDonors.donors; ++chat) {
        house.submit("a", test::own_prompt(chat, 30), 1);
        finish(house);
    }
    for (int32_t chat = 10; chat < 16; ++chat) {
        house.submit("a", test::own_prompt(chat, 4), 1);
        finish(house);
    }
    for (int32_t chat = 2; chat <= kWithDonors.donors; ++chat) {
        const base::RequestId id = house.submit("a", test::own_prompt(chat, 30), 1);
        finish(house);
        CHECK_EQ(house.cached[id], 29);
    }
}

TEST_CASE("sharing: who opts out neither takes nor leaves anything") {
    House house(kWithDonors);
    house.submit("a", prompt(30, 5, 1), 2);
    finish(house);
    const int32_t cached = house.scheduler.counters().cells_cached;
    house.submit("a", prompt(30, 5, 2), 2, false);
    CHECK_EQ(house.turn(), "2: 0+35*");
    finish(house);
    CHECK_EQ(house.scheduler.counters().cells_cached, cached);
}

TEST_CASE("sharing: donors give way to requests that need their cells, least recently used first") {
    House house(with(kWithDonors, [](Limits& limits) { limits.cells = 130; }));
    for (Token name = 1; name <= 3; ++name) {
        house.submit("a", prompt(0, 40, name), 1);
        finish(house);
    }
    CHECK_EQ(house.scheduler.counters().cells_cached, 120);
    // The first is of use again, so that the second is now the one that was longest of none.
    house.submit("a", prompt(0, 40, 1), 1);
    CHECK_EQ(house.turn(), "4: 39+1*");
    house.submit("a", prompt(0, 40, 9), 1);
    CHECK_EQ(house.turn(), "5: 0+40*");
    house.submit("a", prompt(0, 40, 3), 1);
    CHECK_EQ(house.turn(), "6: 39+1*");
    house.submit("a", prompt(0, 40, 1), 1);
    CHECK_EQ(house.turn(), "7: 39+1*");
    house.submit("a", prompt(0, 40, 2), 1);
    CHECK_EQ(house.turn(), "8: 0+40*");
}

TEST_CASE("sharing: no more donors than allowed, and first those go whose cells another holds too") {
    House house(with(kWithDonors, [](Limits& limits) {
        limits.sequences = 1;
        limits.donors = 2;
    }));
    house.submit("a", prompt(0, 40, 1), 1);
    finish(house);
    house.submit("a", prompt(0, 40, 2), 1);
    finish(house);
    std::vector<Token> longer = prompt(0, 40, 2);
    longer.push_back(5);
    house.submit("a", longer, 1);
    finish(house);
    CHECK_EQ(house.scheduler.counters().cells_cached, 40 + 41);
    // The fourth needs a place. The second's cells are all in the third: it goes, and not the first, which is older.
    house.submit("a", prompt(0, 40, 4), 1);
    CHECK_EQ(house.turn(), "4: 0+40*");
    CHECK_EQ(house.released.size(), 1);
    CHECK_EQ(house.scheduler.counters().cells_cached, 40 + 41 + 40);
}

TEST_CASE("sharing: what a running sequence shares is not given up with its donor") {
    House house(with(kWithDonors, [](Limits& limits) { limits.cells = 100; }));
    house.submit("a", prompt(30, 10, 1), 1);
    finish(house);
    house.submit("a", prompt(30, 10, 2), 30);
    CHECK_EQ(house.turn(), "2: 30+10*");
    house.submit("b", prompt(0, 50, 3), 1); // takes the donor's own ten cells
    CHECK_EQ(house.turn(), "2: 40+1*, 3: 0+4");
    CHECK_EQ(house.scheduler.counters().cells_cached, 0);
    finish(house);
}

TEST_CASE("sharing: a preempted request finds its own cells again while nobody needed them") {
    House house(with(kWithDonors,
                     [](Limits& limits) {
                         limits.cells = 100;
                         limits.sequences = 2;
                     }),
                40);
    house.submit("a", prompt(0, 30, 1), 60);
    house.submit("a", prompt(0, 60, 2), 30);
    CHECK_EQ(house.turn(), "1: 0+30*, 2: 0+10");
    for (int turns = 0; house.scheduler.counters().preemptions == 0; ++turns) {
        REQUIRE(turns < 50);
        house.turn();
    }
    CHECK(house.scheduler.cancel(1));
    CHECK(!house.turn().empty());
    CHECK(house.cached[2] >= 40);
    finish(house);
}

TEST_CASE("sharing: without donors nothing is shared") {
    House house(with(kWithDonors, [](Limits& limits) { limits.donors = 0; }));
    house.submit("a", prompt(30, 5, 1), 9);
    house.turn();
    house.submit("a", prompt(30, 5, 2), 9);
    CHECK_EQ(house.turn(), "1: 35+1*, 2: 0+4");
    finish(house);
    CHECK_EQ(house.scheduler.counters().cells_cached, 0);
}

// ---- where a part of the state cannot be cut ---------------------------------------------------------------

namespace {

constexpr Limits kRecurrent = with(kWithDonors, [](Limits& limits) { limits.checkpoints = 4; });

} // namespace

TEST_CASE("checkpoints: a step ends at each boundary of the prompt") {
    House house(kRecurrent);
    house.submit("a", prompt(30, 30, 1), 3, true, {20, 50});
    CHECK_EQ(house.turn(), "1: 0+20");
    CHECK_EQ(house.turn(), "1: 20+30");
    CHECK_EQ(house.turn(), "1: 50+10*");
    CHECK_EQ(house.turn(), "1: 60+1*");
}

TEST_CASE("checkpoints: a beginning is shared up to the last boundary that is common, not beyond") {
    House house(kRecurrent);
    house.submit("a", prompt(30, 10, 1), 2, true, {20});
    finish(house);
    house.submit("a", prompt(30, 10, 2), 2, true, {20});
    CHECK_EQ(house.turn(), "2: 20+20*");
}

TEST_CASE("checkpoints: a chat goes on where its last answer ended") {
    House house(kRecurrent);
    house.submit("a", prompt(30, 5, 1), 4);
    finish(house);
    std::vector<Token> next = prompt(30, 5, 1);
    for (const Token left : {3, 2, 1, 0}) next.push_back(1000 + 500 + left);
    next.insert(next.end(), 6, 7);
    house.submit("a", next, 4);
    CHECK_EQ(house.turn(), "2: 38+7*");
}

TEST_CASE("checkpoints: requests that arrive together wait for the first to reach their common boundary") {
    House house(kRecurrent);
    for (Token name = 1; name <= 3; ++name) house.submit("a", prompt(60, 5, name), 2, true, {50});
    CHECK_EQ(house.turn(), "1: 0+40");
    CHECK_EQ(house.turn(), "1: 40+10");
    CHECK_EQ(house.turn(), "1: 50+15*, 2: 50+15*, 3: 50+10");
}

TEST_CASE("checkpoints: the ones that were longest of no use go when there are too many") {
    House house(with(kRecurrent, [](Limits& limits) { limits.checkpoints = 2; }));
    for (Token name = 1; name <= 2; ++name) {
        house.submit("a", prompt(0, 40, name), 1);
        finish(house);
    }
    std::vector<Token> first = prompt(0, 40, 1);
    first.push_back(5);
    house.submit("a", first, 1); // uses the first, and makes a third: the second goes
    CHECK_EQ(house.turn(), "3: 40+1*");
    std::vector<Token> second = prompt(0, 40, 2);
    second.push_back(5);
    house.submit("a", second, 1);
    CHECK_EQ(house.turn(), "4: 0+40");
}

// ---- what donors leave in host memory ------------------------------------------------------------------------

namespace {

constexpr Limits kStashing{.cells = 6000,
                           .context_length = 6000,
                           .sequences = 2,
                           .donors = 4,
                           .batch_tokens = 6000,
                           .checkpoints = 0,
                           .reserve_ahead = 2,
                           .stash_bytes = 1'000'000};

} // namespace

TEST_CASE("host memory: a chat that was given up goes on where it stood") {
    House house(with(kStashing, [](Limits& limits) { limits.cells = limits.context_length = 400; }));
    house.submit("a", prompt(0, 300, 1), 1);
    finish(house);
    house.submit("a", prompt(0, 300, 2), 1);
    CHECK_EQ(house.turn(), "2: 0+300*");
    CHECK_EQ(house.scheduler.counters().stashes, 1);
    std::vector<Token> next = prompt(0, 300, 1);
    next.push_back(5);
    house.submit("a", next, 1);
    CHECK_EQ(house.turn(), ""); // its state is copied
    CHECK_EQ(house.turn(), "3: 300+1*");
    CHECK_EQ(house.scheduler.counters().stash_hits, 1);
}

TEST_CASE("host memory: what others hold is not copied with a donor, and a text comes back piece by piece") {
    House house(with(kStashing, [](Limits& limits) { limits.cells = limits.context_length = 500; }));
    house.submit("a", prompt(200, 100, 1), 1);
    finish(house);
    house.submit("a", prompt(200, 150, 2), 1);
    finish(house);
    house.submit("a", prompt(0, 100, 3), 1);
    finish(house);
    CHECK_EQ(house.scheduler.counters().stash_bytes, 100 * 10);
    house.submit("a", prompt(0, 300, 4), 1);
    finish(house);
    CHECK_EQ(house.scheduler.counters().stash_bytes, (100 + 350) * 10);
    house.submit("a", prompt(200, 100, 1), 1);
    CHECK_EQ(house.turn(), "");
    CHECK_EQ(house.scheduler.counters().stash_hits, 2);
    CHECK_EQ(house.turn(), "5: 299+1*");
}

TEST_CASE("host memory: a long state is copied in several turns, while others go on") {
    House house(kStashing);
    house.submit("a", prompt(0, 5000, 1), 1);
    finish(house);
    house.submit("b", prompt(0, 20, 3), 90);
    CHECK_EQ(house.turn(), "2: 0+20*");
    house.submit("a", prompt(0, 2000, 2), 1);
    CHECK_EQ(house.turn(), "2: 20+1*"); // four pieces of 512 tokens
    CHECK_EQ(house.scheduler.counters().stashes, 4);
    CHECK_EQ(house.turn(), "2: 21+1*");
    CHECK_EQ(house.turn(), "2: 22+1*, 3: 0+4");
    CHECK_EQ(house.scheduler.counters().stash_bytes, 5000 * 10);
    CHECK(house.scheduler.cancel(3));
    house.submit("a", prompt(0, 5000, 1), 1);
    for (const int32_t at : {23, 24, 25}) CHECK_EQ(house.turn(), "2: " + std::to_string(at) + "+1*");
    CHECK_EQ(house.turn(), "2: 26+1*, 4: 4999+1*");
}

TEST_CASE("host memory: a state that is passed over on the way back is not saved as if it were there") {
    House house(with(kStashing, [](Limits& limits) {
        limits.checkpoints = 4;
        limits.checkpoint_bytes = 50;
    }));
    house.scheduler.adopt(prompt(100, 0, 0), 0, {}, 1050);
    house.scheduler.adopt(prompt(200, 0, 0), 100, {}, 1050);
    house.submit("a", prompt(200, 5, 1), 1);
    CHECK_EQ(house.turn(), ""); // both pieces in one turn, after which the state is that of 200 tokens
    finish(house);
    CHECK_EQ(house.scheduler.counters().stash_hits, 2);
    house.submit("a", prompt(200, 5, 2), 1);
    CHECK_EQ(house.turn(), "2: 200+5*");
    finish(house);
    house.submit("a", prompt(100, 5, 3), 1);
    CHECK_EQ(house.turn(), ""); // nothing to begin with but what host memory has
    CHECK_EQ(house.cached[3], 0);
    CHECK_EQ(house.turn(), "3: 100+5*");
    CHECK_EQ(house.scheduler.counters().stash_hits, 3);
}

TEST_CASE("host memory: a preempted request gets its own state back") {
    House house(with(kStashing, [](Limits& limits) { limits.cells = limits.context_length = 400; }), 400);
    house.submit("a", prompt(0, 150, 1), 200);
    house.submit("a", prompt(0, 200, 2), 40);
    for (int turns = 0; house.scheduler.counters().stash_bytes == 0; ++turns) {
        REQUIRE(turns < 100);
        house.turn();
    }
    CHECK_EQ(house.scheduler.counters().preemptions, 1);
    finish(house);
    CHECK(house.scheduler.counters().stash_hits > 0);
}

TEST_CASE("host memory: what cannot be copied back is computed") {
    House house(with(kStashing, [](Limits& limits) { limits.cells = limits.context_length = 400; }));
    house.submit("a", prompt(0, 300, 1), 1);
    finish(house);
    house.submit("a", prompt(0, 300, 2), 1);
    finish(house);
    house.are_copies_failing = true;
    house.submit("a", prompt(0, 300, 1), 1);
    CHECK_EQ(house.turn(), "");
    CHECK_EQ(house.turn(), "3: 0+300*");
    CHECK_EQ(house.scheduler.counters().stash_hits, 0);
}
