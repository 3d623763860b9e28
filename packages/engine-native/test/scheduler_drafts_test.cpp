// Guesses in the scheduler's plans: who gets some, with which cells, and what becomes of the wrong ones.
#include "check.h"
#include "house.h"
#include "sched/drafter.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

using base::Token;
using sched::CellOp;
using sched::Outcome;
using Kind = sched::Outcome::Kind;
using test::kRoomy;
using test::with;

namespace {

/// Guesses `wanted` tokens, or as many as it may: 901, 902, 903 and so on.
struct Guessing final : sched::Drafter {
    std::span<const Token> draft(base::RequestId id, std::span<const Token>, int32_t most) override {
        asked.push_back(id);
        guesses.clear();
        for (int32_t i = 1; i <= std::min(wanted, most); ++i) guesses.push_back(900 + i);
        return guesses;
    }

    int32_t wanted = 3;
    std::vector<base::RequestId> asked;
    std::vector<Token> guesses;
};

/// A scheduler with one drafter; `turn` answers each step with the same outcome.
struct Room {
    explicit Room(const sched::Limits& limits) : scheduler(limits) {}

    void submit(base::RequestId id, int32_t prompt_tokens, int32_t generate_max) {
        scheduler.submit({.id = id,
                          .client = "",
                          .prompt = test::own_prompt(id, prompt_tokens),
                          .generate_max = generate_max,
                          .uses_cache = true});
    }

    const sched::Plan& turn(const Outcome& outcome) {
        const sched::Plan& plan = scheduler.plan({.prompt_busy = 4, .outputs = outputs, .drafter = &drafter});
        cells = plan.cells;
        drafted.clear();
        for (const sched::Step& step : plan.steps) drafted.push_back(step.drafts.size());
        // Who computes a prompt has no guesses that could be right.
        std::vector<Outcome> outcomes;
        for (const sched::Step& step : plan.steps)
            outcomes.push_back(step.drafts.empty() ? Outcome{.kind = Kind::advanced, .token = 1} : outcome);
        scheduler.apply(outcomes);
        scheduler.check_integrity();
        return plan;
    }

    Guessing drafter;
    int32_t outputs = 16;
    sched::Scheduler scheduler;
    /// Of the last turn.
    std::vector<CellOp> cells;
    std::vector<size_t> drafted;
};

const sched::Limits kLimits = with(kRoomy, [](auto& limits) { limits.reserve_ahead = 8; });

std::optional<CellOp> trim_of(const std::vector<CellOp>& cells) {
    const auto found = std::ranges::find(cells, CellOp::Kind::trim, &CellOp::kind);
    return found == cells.end() ? std::nullopt : std::optional(*found);
}

} // namespace

TEST_CASE("drafts: right guesses advance a sequence by as many tokens, and their cells stay") {
    Room room(kLimits);
    room.submit(1, 4, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    room.turn({.kind = Kind::advanced, .accepted = 3, .token = 5});
    CHECK_EQ(room.drafted, std::vector<size_t>{3});
    const sched::Plan& plan = room.turn({.kind = Kind::advanced, .token = 5});
    CHECK(!trim_of(room.cells));
    CHECK_EQ(test::in_words(plan), "1: 8+1*");
}

TEST_CASE("drafts: the cells of wrong guesses are cut off before the next turn") {
    Room room(kLimits);
    room.submit(1, 4, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    room.turn({.kind = Kind::advanced, .accepted = 1, .token = 5});
    const sched::Plan& plan = room.turn({.kind = Kind::advanced, .token = 5});
    REQUIRE(trim_of(room.cells));
    CHECK_EQ(trim_of(room.cells)->length, 6);
    CHECK_EQ(test::in_words(plan), "1: 6+1*");
}

TEST_CASE("drafts: a sequence that ends among its guesses leaves a donor of what it said") {
    Room room(with(kLimits, [](auto& limits) { limits.donors = 2; }));
    room.submit(1, 20, 50);
    for (int i = 0; i < 3; ++i) room.turn({.kind = Kind::advanced, .token = 1}); // 8 tokens a turn
    room.turn({.kind = Kind::finished, .accepted = 1, .token = 902});
    CHECK_EQ(room.scheduler.counters().running, 0);
    CHECK_EQ(room.scheduler.counters().cells_cached, 22);
    // One that begins alike: the cut comes before the sharing.
    std::vector<Token> prompt = test::own_prompt(1, 20);
    prompt.insert(prompt.end(), {1, 901, 7, 7});
    room.scheduler.submit({.id = 2, .client = "", .prompt = prompt, .generate_max = 5, .uses_cache = true});
    const sched::Plan& plan = room.turn({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(test::in_words(plan), "2: 22+2*");
    REQUIRE_EQ(room.cells.size(), 2);
    CHECK(room.cells[0].kind == CellOp::Kind::trim);
    CHECK(room.cells[1].kind == CellOp::Kind::share);
}

TEST_CASE(
    "drafts: there are as many as cells are reserved, and never more tokens than the request may have") {
    Room room(kLimits);
    room.drafter.wanted = 100;
    room.outputs = 100;
    room.submit(1, 4, 4);
    room.turn({.kind = Kind::advanced, .token = 1});
    // Of four tokens one is there, one is sampled at the end: two guesses may lie between.
    room.turn({.kind = Kind::finished, .accepted = 2, .token = 1});
    CHECK_EQ(room.drafted, std::vector<size_t>{2});
    CHECK_EQ(room.scheduler.counters().running, 0);
}

TEST_CASE("drafts: the turn's logits and its size hold for all sequences together") {
    Room room(with(kLimits, [](auto& limits) { limits.batch_tokens = 10; }));
    room.submit(1, 2, 50);
    room.submit(2, 2, 50);
    room.submit(3, 2, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    room.outputs = 8;
    room.turn({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(room.drafted, std::vector<size_t>{3, 2, 0});
    CHECK_EQ(room.drafter.asked, std::vector<base::RequestId>{1, 2, 3});
    room.outputs = 100;
    room.drafter.wanted = 100;
    room.turn({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(room.drafted[0] + room.drafted[1] + room.drafted[2], 7);
}

TEST_CASE(
    "drafts: a request that is admitted with nothing left to compute takes its logits from the guesses") {
    Room room(with(kLimits, [](auto& limits) { limits.donors = 2; }));
    room.submit(1, 20, 50);
    room.submit(2, 20, 50);
    for (int i = 0; i < 12; ++i) room.turn({.kind = Kind::advanced, .token = 1});
    // The third says just what the first has computed: all but its last token is there.
    std::vector<Token> prompt = test::own_prompt(1, 20);
    prompt.push_back(1);
    room.drafter.wanted = 100;
    room.outputs = 8;
    room.scheduler.submit({.id = 3, .client = "", .prompt = prompt, .generate_max = 5, .uses_cache = true});
    const sched::Plan& plan = room.turn({.kind = Kind::advanced, .token = 1});
    REQUIRE_EQ(plan.steps.size(), 3);
    CHECK_EQ(plan.steps[2].tokens.size(), 1);
    size_t outputs = plan.steps.size();
    for (const size_t drafts : room.drafted) outputs += drafts;
    CHECK_EQ(outputs, 8);
}

TEST_CASE("drafts: nobody guesses beside a part of a prompt") {
    Room room(kLimits);
    room.submit(1, 4, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    room.submit(2, 20, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(room.drafted, std::vector<size_t>{0, 0});
    CHECK(room.drafter.asked.empty());
}

TEST_CASE("drafts: guesses have the cells that are reserved already, and no others") {
    Room room(with(kRoomy, [](auto& limits) { limits.reserve_ahead = 3; }));
    room.drafter.wanted = 100;
    room.submit(1, 4, 50);
    room.turn({.kind = Kind::advanced, .token = 1});
    const int32_t reserved = room.scheduler.counters().cells_reserved;
    for (const size_t drafts : {2, 1, 0}) {
        room.turn({.kind = Kind::advanced, .token = 1});
        CHECK_EQ(room.drafted, std::vector<size_t>{drafts});
        CHECK_EQ(room.scheduler.counters().cells_reserved, reserved);
    }
    // The sequence's own next token had no cell any more.
    room.turn({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(room.drafted, std::vector<size_t>{3});
}
