// sched::Scheduler: what requests with a common prefix share, by examples.
#include "check.h"
#include "prompts.h"
#include "scheduler_harness.h"

#include <string>
#include <vector>

using base::RequestId;
using base::Token;
using sched::Limits;
using test::kWithCache;
using test::prompt;
using test::SchedulerHarness;
using test::with;

namespace {

/// Steps until no request is in flight.
void finish(SchedulerHarness& harness) {
    for (int steps = 0; !harness.scheduler.ids().empty(); ++steps) {
        REQUIRE(steps < 200);
        harness.step();
    }
}

} // namespace

TEST_CASE("sharing: a prefix that another request has computed is not computed again") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(30, 5, 1), 9);
    CHECK_EQ(harness.step(), "1: 0+35*");
    harness.submit("b", prompt(30, 3, 2), 9);
    CHECK_EQ(harness.step(), "1: 35+1*, 2: 30+3*");
    CHECK_EQ(harness.cached[2], 30);
    // 30 shared cells, the other tokens' own ones, and two ahead each.
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 30 + (5 + 2) + (3 + 2));
}

TEST_CASE("sharing: requests that arrive together compute their common prefix once, and the later ones wait "
          "for it") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.batch_tokens = 20; }));
    for (Token name = 1; name <= 3; ++name) harness.submit("a", prompt(60, 5, name), 2);
    CHECK_EQ(harness.step(), "1: 0+20");
    CHECK_EQ(harness.step(), "1: 20+20");
    CHECK_EQ(harness.step(), "1: 40+20");
    CHECK_EQ(harness.scheduler.counters().waiting, 2);
    CHECK_EQ(harness.step(), "1: 60+5*, 2: 60+5*, 3: 60+5*");
    CHECK_EQ(harness.cached[2], 60);
    CHECK_EQ(harness.cached[3], 60);
}

TEST_CASE("sharing: a request that waits for another's computation holds up no other") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(80, 5, 1), 2);
    harness.submit("a", prompt(80, 5, 2), 2);
    harness.submit("a", prompt(0, 5, 3), 2);
    CHECK_EQ(harness.step(), "1: 0+40");
    CHECK_EQ(harness.scheduler.counters().running, 2);
    CHECK_EQ(harness.scheduler.counters().waiting, 1);
    CHECK_EQ(harness.step(), "1: 40+40");
    CHECK_EQ(harness.step(), "1: 80+5*, 2: 80+5*, 3: 0+5*");
}

TEST_CASE("sharing: no request waits for the last few common tokens") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.batch_tokens = 30; }));
    harness.submit("a", prompt(40, 5, 1), 2);
    harness.submit("a", prompt(40, 5, 2), 2);
    CHECK_EQ(harness.step(), "1: 0+30");
    CHECK_EQ(harness.step(), "1: 30+15*, 2: 30+15*");
}

TEST_CASE("sharing: if the request that computes the prefix is cancelled, the next one goes on from there") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(80, 5, 1), 2);
    harness.submit("a", prompt(80, 5, 2), 2);
    CHECK_EQ(harness.step(), "1: 0+40");
    CHECK(harness.scheduler.cancel(1));
    CHECK_EQ(harness.step(), "2: 40+40");
    CHECK_EQ(harness.cached[2], 40);
}

TEST_CASE("sharing: an ended request leaves its tokens to the chat's next request") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(30, 5, 1), 4);
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().cells_reserved, 0);
    // The last token was only sampled.
    CHECK_EQ(harness.scheduler.counters().cells_cached, 38);
    std::vector<Token> next = prompt(30, 5, 1);
    for (const Token left : {3, 2, 1, 0}) next.push_back(1000 + 500 + left);
    next.insert(next.end(), 6, 7);
    harness.submit("a", next, 4);
    CHECK_EQ(harness.step(), "2: 38+7*");
}

TEST_CASE("sharing: the last token of a prompt is always computed") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(30, 0, 1), 1);
    finish(harness);
    harness.submit("a", prompt(30, 0, 1), 1);
    CHECK_EQ(harness.step(), "2: 29+1*");
}

TEST_CASE("sharing: a common prefix is shared however short it is, like a template's first tokens") {
    for (const int32_t common : {1, 5, 15}) {
        CAPTURE(common);
        SchedulerHarness harness(kWithCache);
        harness.submit("a", prompt(common, 20, 1), 1);
        finish(harness);
        harness.submit("a", prompt(common, 20, 2), 1);
        harness.step();
        CHECK_EQ(harness.cached[2], common);
    }
}

TEST_CASE("sharing: a cached sequence is not kept longer because a short prefix of it is shared") {
    // Cells for two conversations and the running request.
    SchedulerHarness harness(with(kWithCache, [](auto& limits) { limits.cells = 110; }));
    for (int32_t chat = 1; chat <= 4; ++chat) {
        harness.submit("a", prompt(4, 40, chat), 1);
        finish(harness);
    }
    const base::RequestId id = harness.submit("a", prompt(4, 40, 1), 1);
    finish(harness);
    CHECK_EQ(harness.cached[id], 4);
}

TEST_CASE("sharing: a short conversation is evicted first, and no longer one for it") {
    SchedulerHarness harness(with(kWithCache, [](auto& limits) { limits.sequences = 1; }));
    // As many long ones as may be cached, and then short ones, one after the other.
    for (int32_t chat = 1; chat <= kWithCache.cached_sequences; ++chat) {
        harness.submit("a", test::own_prompt(chat, 30), 1);
        finish(harness);
    }
    for (int32_t chat = 10; chat < 16; ++chat) {
        harness.submit("a", test::own_prompt(chat, 4), 1);
        finish(harness);
    }
    for (int32_t chat = 2; chat <= kWithCache.cached_sequences; ++chat) {
        const base::RequestId id = harness.submit("a", test::own_prompt(chat, 30), 1);
        finish(harness);
        CHECK_EQ(harness.cached[id], 29);
    }
}

TEST_CASE("sharing: a request without the cache neither uses nor leaves anything") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", prompt(30, 5, 1), 2);
    finish(harness);
    const int32_t cached = harness.scheduler.counters().cells_cached;
    harness.submit("a", prompt(30, 5, 2), 2, false);
    CHECK_EQ(harness.step(), "2: 0+35*");
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().cells_cached, cached);
}

TEST_CASE("sharing: cached sequences are evicted when cells are needed, least recently used first") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.cells = 130; }));
    for (Token name = 1; name <= 3; ++name) {
        harness.submit("a", prompt(0, 40, name), 1);
        finish(harness);
    }
    CHECK_EQ(harness.scheduler.counters().cells_cached, 120);
    // The first is used again, so the second is now the least recently used.
    harness.submit("a", prompt(0, 40, 1), 1);
    CHECK_EQ(harness.step(), "4: 39+1*");
    harness.submit("a", prompt(0, 40, 9), 1);
    CHECK_EQ(harness.step(), "5: 0+40*");
    harness.submit("a", prompt(0, 40, 3), 1);
    CHECK_EQ(harness.step(), "6: 39+1*");
    harness.submit("a", prompt(0, 40, 1), 1);
    CHECK_EQ(harness.step(), "7: 39+1*");
    harness.submit("a", prompt(0, 40, 2), 1);
    CHECK_EQ(harness.step(), "8: 0+40*");
}

TEST_CASE(
    "sharing: at most so many cached sequences, and those are evicted first whose cells another holds too") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) {
        limits.sequences = 1;
        limits.cached_sequences = 2;
    }));
    harness.submit("a", prompt(0, 40, 1), 1);
    finish(harness);
    harness.submit("a", prompt(0, 40, 2), 1);
    finish(harness);
    std::vector<Token> longer = prompt(0, 40, 2);
    longer.push_back(5);
    harness.submit("a", longer, 1);
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 40 + 41);
    // The fourth needs a slot. The third holds all cells of the second: that is evicted, not the first, which is older.
    harness.submit("a", prompt(0, 40, 4), 1);
    CHECK_EQ(harness.step(), "4: 0+40*");
    CHECK_EQ(harness.freed.size(), 1);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 40 + 41 + 40);
}

TEST_CASE("sharing: cells that a running sequence shares are not freed with the cached sequence") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.cells = 100; }));
    harness.submit("a", prompt(30, 10, 1), 1);
    finish(harness);
    harness.submit("a", prompt(30, 10, 2), 30);
    CHECK_EQ(harness.step(), "2: 30+10*");
    harness.submit("b", prompt(0, 50, 3), 1); // takes the cached sequence's own ten cells
    CHECK_EQ(harness.step(), "2: 40+1*, 3: 0+4");
    CHECK_EQ(harness.scheduler.counters().cells_cached, 0);
    finish(harness);
}

TEST_CASE("sharing: a preempted request finds its own cells again if none were needed") {
    SchedulerHarness harness(with(kWithCache,
                                  [](Limits& limits) {
                                      limits.cells = 100;
                                      limits.sequences = 2;
                                  }),
                             40);
    harness.submit("a", prompt(0, 30, 1), 60);
    harness.submit("a", prompt(0, 60, 2), 30);
    CHECK_EQ(harness.step(), "1: 0+30*, 2: 0+10");
    for (int steps = 0; harness.scheduler.counters().preemptions == 0; ++steps) {
        REQUIRE(steps < 50);
        harness.step();
    }
    CHECK(harness.scheduler.cancel(1));
    CHECK(!harness.step().empty());
    CHECK(harness.cached[2] >= 40);
    finish(harness);
}

TEST_CASE("sharing: without cached sequences nothing is shared") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.cached_sequences = 0; }));
    harness.submit("a", prompt(30, 5, 1), 9);
    harness.step();
    harness.submit("a", prompt(30, 5, 2), 9);
    CHECK_EQ(harness.step(), "1: 35+1*, 2: 0+4");
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 0);
}

// ---- recurrent state, which cannot be cut ------------------------------------------------------------------

namespace {

constexpr Limits kRecurrent = with(kWithCache, [](Limits& limits) { limits.checkpoints = 4; });

} // namespace

TEST_CASE("checkpoints: prefill stops at each boundary of the prompt") {
    SchedulerHarness harness(kRecurrent);
    harness.submit("a", prompt(30, 30, 1), 3, true, {20, 50});
    CHECK_EQ(harness.step(), "1: 0+20");
    CHECK_EQ(harness.step(), "1: 20+30");
    CHECK_EQ(harness.step(), "1: 50+10*");
    CHECK_EQ(harness.step(), "1: 60+1*");
}

TEST_CASE("checkpoints: a prefix is shared up to the last common boundary, not beyond") {
    SchedulerHarness harness(kRecurrent);
    harness.submit("a", prompt(30, 10, 1), 2, true, {20});
    finish(harness);
    harness.submit("a", prompt(30, 10, 2), 2, true, {20});
    CHECK_EQ(harness.step(), "2: 20+20*");
}

TEST_CASE("checkpoints: a chat goes on where its last reply ended") {
    SchedulerHarness harness(kRecurrent);
    harness.submit("a", prompt(30, 5, 1), 4);
    finish(harness);
    std::vector<Token> next = prompt(30, 5, 1);
    for (const Token left : {3, 2, 1, 0}) next.push_back(1000 + 500 + left);
    next.insert(next.end(), 6, 7);
    harness.submit("a", next, 4);
    CHECK_EQ(harness.step(), "2: 38+7*");
}

TEST_CASE("checkpoints: requests that arrive together wait for the first to reach their common boundary") {
    SchedulerHarness harness(kRecurrent);
    for (Token name = 1; name <= 3; ++name) harness.submit("a", prompt(60, 5, name), 2, true, {50});
    CHECK_EQ(harness.step(), "1: 0+40");
    CHECK_EQ(harness.step(), "1: 40+10");
    CHECK_EQ(harness.step(), "1: 50+15*, 2: 50+15*, 3: 50+10");
}

TEST_CASE("checkpoints: the least recently used are dropped when there are too many") {
    SchedulerHarness harness(with(kRecurrent, [](Limits& limits) { limits.checkpoints = 2; }));
    for (Token name = 1; name <= 2; ++name) {
        harness.submit("a", prompt(0, 40, name), 1);
        finish(harness);
    }
    std::vector<Token> first = prompt(0, 40, 1);
    first.push_back(5);
    harness.submit("a", first, 1); // uses the first, and saves a third: the second is dropped
    CHECK_EQ(harness.step(), "3: 40+1*");
    std::vector<Token> second = prompt(0, 40, 2);
    second.push_back(5);
    harness.submit("a", second, 1);
    CHECK_EQ(harness.step(), "4: 0+40");
}

// ---- the host KV tier -----------------------------------------------------------------------------------------

namespace {

constexpr Limits kWithHostTier{.cells = 6000,
                               .context_length = 6000,
                               .sequences = 2,
                               .cached_sequences = 4,
                               .batch_tokens = 6000,
                               .checkpoints = 0,
                               .reserve_ahead = 2,
                               .host_tier_bytes = 1'000'000};

} // namespace

TEST_CASE("host tier: an evicted chat goes on where it stood") {
    SchedulerHarness harness(
        with(kWithHostTier, [](Limits& limits) { limits.cells = limits.context_length = 400; }));
    harness.submit("a", prompt(0, 300, 1), 1);
    finish(harness);
    harness.submit("a", prompt(0, 300, 2), 1);
    CHECK_EQ(harness.step(), "2: 0+300*");
    CHECK_EQ(harness.scheduler.counters().segments, 1);
    std::vector<Token> next = prompt(0, 300, 1);
    next.push_back(5);
    harness.submit("a", next, 1);
    CHECK_EQ(harness.step(), ""); // its state is swapped in
    CHECK_EQ(harness.step(), "3: 300+1*");
    CHECK_EQ(harness.scheduler.counters().swap_ins, 1);
}

TEST_CASE(
    "host tier: cells that others hold are not swapped out, and a text is swapped in segment by segment") {
    SchedulerHarness harness(
        with(kWithHostTier, [](Limits& limits) { limits.cells = limits.context_length = 500; }));
    harness.submit("a", prompt(200, 100, 1), 1);
    finish(harness);
    harness.submit("a", prompt(200, 150, 2), 1);
    finish(harness);
    harness.submit("a", prompt(0, 100, 3), 1);
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().host_tier_bytes, 100 * 10);
    harness.submit("a", prompt(0, 300, 4), 1);
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().host_tier_bytes, (100 + 350) * 10);
    harness.submit("a", prompt(200, 100, 1), 1);
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.scheduler.counters().swap_ins, 2);
    CHECK_EQ(harness.step(), "5: 299+1*");
}

TEST_CASE("host tier: a long state is copied in several steps, while others go on") {
    SchedulerHarness harness(kWithHostTier);
    harness.submit("a", prompt(0, 5000, 1), 1);
    finish(harness);
    harness.submit("b", prompt(0, 20, 3), 90);
    CHECK_EQ(harness.step(), "2: 0+20*");
    harness.submit("a", prompt(0, 2000, 2), 1);
    CHECK_EQ(harness.step(), "2: 20+1*"); // four segments of 512 tokens
    CHECK_EQ(harness.scheduler.counters().segments, 4);
    CHECK_EQ(harness.step(), "2: 21+1*");
    CHECK_EQ(harness.step(), "2: 22+1*, 3: 0+4");
    CHECK_EQ(harness.scheduler.counters().host_tier_bytes, 5000 * 10);
    CHECK(harness.scheduler.cancel(3));
    harness.submit("a", prompt(0, 5000, 1), 1);
    for (const int32_t at : {23, 24, 25}) CHECK_EQ(harness.step(), "2: " + std::to_string(at) + "+1*");
    CHECK_EQ(harness.step(), "2: 26+1*, 4: 4999+1*");
}

TEST_CASE("host tier: steps with nothing else to do copy ahead, so that the next request waits for no copy") {
    SchedulerHarness harness(kWithHostTier);
    harness.submit("a", prompt(0, 5000, 1), 1);
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().segments, 0);
    for (int segments = 1; segments <= 10; ++segments) {
        CHECK_EQ(harness.step(), "");
        CHECK_EQ(harness.scheduler.counters().segments, segments);
    }
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.scheduler.counters().host_tier_bytes, 5000 * 10);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 5000); // it stays, too
    harness.submit("a", prompt(0, 2000, 2), 1);
    CHECK_EQ(harness.step(), "2: 0+2000*");
    CHECK_EQ(harness.scheduler.counters().host_tier_bytes, 5000 * 10);
}

TEST_CASE("host tier: nothing is copied ahead while there is room for the next requests") {
    SchedulerHarness harness(kWithHostTier);
    harness.submit("a", prompt(0, 1000, 1), 1);
    finish(harness);
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.scheduler.counters().segments, 0);
}

TEST_CASE("host tier: where copying does not pay, evicted state is lost, and nobody waits for copies") {
    SchedulerHarness harness(kWithHostTier);
    harness.copies_evicted = false;
    harness.submit("a", prompt(0, 5000, 1), 1);
    finish(harness);
    harness.submit("b", prompt(0, 20, 3), 90);
    CHECK_EQ(harness.step(), "2: 0+20*");
    harness.submit("a", prompt(0, 2000, 2), 1);
    CHECK_EQ(harness.step(), "2: 20+1*, 3: 0+4");
    CHECK_EQ(harness.scheduler.counters().segments, 0);
}

TEST_CASE("host tier: a state between two segments that are swapped in together is not saved") {
    SchedulerHarness harness(with(kWithHostTier, [](Limits& limits) {
        limits.checkpoints = 4;
        limits.checkpoint_bytes = 50;
    }));
    harness.scheduler.adopt_segment(prompt(100, 0, 0), 0, {}, 1050);
    harness.scheduler.adopt_segment(prompt(200, 0, 0), 100, {}, 1050);
    harness.submit("a", prompt(200, 5, 1), 1);
    CHECK_EQ(harness.step(), ""); // both segments in one step, after which the state is that of 200 tokens
    finish(harness);
    CHECK_EQ(harness.scheduler.counters().swap_ins, 2);
    harness.submit("a", prompt(200, 5, 2), 1);
    CHECK_EQ(harness.step(), "2: 200+5*");
    finish(harness);
    harness.submit("a", prompt(100, 5, 3), 1);
    CHECK_EQ(harness.step(), ""); // nothing is shared, so it is swapped in
    CHECK_EQ(harness.cached[3], 0);
    CHECK_EQ(harness.step(), "3: 100+5*");
    CHECK_EQ(harness.scheduler.counters().swap_ins, 3);
}

TEST_CASE("host tier: a preempted request gets its own state back") {
    SchedulerHarness harness(
        with(kWithHostTier, [](Limits& limits) { limits.cells = limits.context_length = 400; }), 400);
    harness.submit("a", prompt(0, 150, 1), 200);
    harness.submit("a", prompt(0, 200, 2), 40);
    for (int steps = 0; harness.scheduler.counters().host_tier_bytes == 0; ++steps) {
        REQUIRE(steps < 100);
        harness.step();
    }
    CHECK_EQ(harness.scheduler.counters().preemptions, 1);
    finish(harness);
    CHECK(harness.scheduler.counters().swap_ins > 0);
}

TEST_CASE("host tier: what cannot be swapped in is computed") {
    SchedulerHarness harness(
        with(kWithHostTier, [](Limits& limits) { limits.cells = limits.context_length = 400; }));
    harness.submit("a", prompt(0, 300, 1), 1);
    finish(harness);
    harness.submit("a", prompt(0, 300, 2), 1);
    finish(harness);
    harness.are_swap_ins_failing = true;
    harness.submit("a", prompt(0, 300, 1), 1);
    CHECK_EQ(harness.step(), "");
    CHECK_EQ(harness.step(), "3: 0+300*");
    CHECK_EQ(harness.scheduler.counters().swap_ins, 0);
}

TEST_CASE(
    "sharing: nothing is shared with requests of another salt, which do not wait for each other either") {
    SchedulerHarness harness(kWithCache);
    const auto submit = [&](const std::string& salt) {
        return harness.submit({.id = 0,
                               .client = "a",
                               .prompt = prompt(20, 5, 1),
                               .generate_max = 2,
                               .uses_cache = true,
                               .cache_salt = salt});
    };
    const RequestId first = submit("a1");
    CHECK_EQ(harness.step(), "1: 0+25*");
    submit("b2");
    submit("");
    CHECK_EQ(harness.step(), "1: 25+1*, 2: 0+4");
    CHECK_EQ(harness.scheduler.counters().waiting, 0);
    finish(harness);
    const RequestId again = submit("a1");
    CHECK_EQ(harness.step(), "4: 24+1*");
    CHECK_EQ(harness.cached[first], 0);
    CHECK_EQ(harness.cached[again], 24);
}

TEST_CASE("sharing: a name is that of a text of the same salt, and the oldest of many names is forgotten") {
    SchedulerHarness harness(kWithCache);
    const auto run = [&](const std::string& salt, int32_t tokens) {
        harness.submit({.id = 0,
                        .client = "a",
                        .prompt = prompt(tokens, 0, 1),
                        .generate_max = 1,
                        .uses_cache = true,
                        .cache_salt = salt,
                        .id_slot = 0});
        finish(harness);
    };
    run("a1", 5);
    run("b2", 7);
    REQUIRE(harness.scheduler.slot_text({"a1", 0}) != nullptr);
    CHECK_EQ(harness.scheduler.slot_text({"a1", 0})->tokens.size(), 5);
    CHECK_EQ(harness.scheduler.slot_text({"b2", 0})->tokens.size(), 7);
    CHECK(harness.scheduler.slot_text({"", 0}) == nullptr);
    CHECK(harness.scheduler.slot_text({"a1", 1}) == nullptr);
    for (size_t i = 1; i < sched::Scheduler::kNamedMax; ++i) run(std::to_string(i), 3);
    CHECK(harness.scheduler.slot_text({"a1", 0}) == nullptr);
    CHECK(harness.scheduler.slot_text({"b2", 0}) != nullptr);
}
