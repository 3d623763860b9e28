// Drafts in the scheduler's plans: which sequences get some, with which cells, and what becomes of rejected ones.
#include "check.h"
#include "sched/step.h"
#include "scheduler_harness.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

using base::Token;
using sched::Outcome;
using Kind = sched::Outcome::Kind;
using test::kRoomy;
using test::with;

namespace {

/// Drafts `wanted` tokens, or as many as it may: 901, 902, 903 and so on.
struct CountingDrafts final : sched::DraftSource {
    std::span<const Token> draft(base::RequestId id, std::span<const Token>, int32_t most) override {
        asked.push_back(id);
        drafts.clear();
        for (int32_t i = 1; i <= std::min(wanted, most); ++i) drafts.push_back(900 + i);
        return drafts;
    }

    int32_t wanted = 3;
    std::vector<base::RequestId> asked;
    std::vector<Token> drafts;
};

/// A scheduler with one source of drafts; each step has the same outcome for all entries with drafts.
struct DraftHarness {
    explicit DraftHarness(const sched::Limits& limits) : scheduler(limits) {}

    void submit(base::RequestId id, int32_t prompt_tokens, int32_t generate_max) {
        scheduler.submit({.id = id,
                          .client = "",
                          .prompt = test::own_prompt(id, prompt_tokens),
                          .generate_max = generate_max,
                          .uses_cache = true});
    }

    const sched::StepPlan& step(const Outcome& outcome) {
        const sched::StepPlan& plan =
            scheduler.schedule({.prefill_busy = 4, .outputs = outputs, .drafts = &source});
        kv_ops = plan.kv_ops;
        drafted.clear();
        for (const sched::BatchEntry& step : plan.batch) drafted.push_back(step.drafts.size());
        // A prompt has no drafts that could be accepted.
        std::vector<Outcome> outcomes;
        for (const sched::BatchEntry& step : plan.batch)
            outcomes.push_back(step.drafts.empty() ? Outcome{.kind = Kind::advanced, .token = 1} : outcome);
        scheduler.update({.outcomes = outcomes});
        scheduler.check_integrity();
        return plan;
    }

    CountingDrafts source;
    int32_t outputs = 16;
    sched::Scheduler scheduler;
    /// Of the last step.
    std::vector<sched::KvOp> kv_ops;
    std::vector<size_t> drafted;
};

const sched::Limits kLimits = with(kRoomy, [](auto& limits) { limits.reserve_ahead = 8; });

const sched::TrimSlot* trim_of(const std::vector<sched::KvOp>& kv_ops) {
    const auto is_trim = [](const auto& op) { return std::holds_alternative<sched::TrimSlot>(op); };
    const auto found = std::ranges::find_if(kv_ops, is_trim);
    return found == kv_ops.end() ? nullptr : std::get_if<sched::TrimSlot>(&*found);
}

} // namespace

TEST_CASE("drafts: accepted drafts advance a sequence by as many tokens, and keep their cells") {
    DraftHarness harness(kLimits);
    harness.submit(1, 4, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    harness.step({.kind = Kind::advanced, .accepted = 3, .token = 5});
    CHECK_EQ(harness.drafted, std::vector<size_t>{3});
    const sched::StepPlan& plan = harness.step({.kind = Kind::advanced, .token = 5});
    CHECK(!trim_of(harness.kv_ops));
    CHECK_EQ(test::in_words(plan), "1: 8+1*");
}

TEST_CASE("drafts: the cells of rejected drafts are trimmed before the next step") {
    DraftHarness harness(kLimits);
    harness.submit(1, 4, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    harness.step({.kind = Kind::advanced, .accepted = 1, .token = 5});
    const sched::StepPlan& plan = harness.step({.kind = Kind::advanced, .token = 5});
    REQUIRE(trim_of(harness.kv_ops));
    CHECK_EQ(trim_of(harness.kv_ops)->length, 6);
    CHECK_EQ(test::in_words(plan), "1: 6+1*");
}

TEST_CASE("drafts: a sequence that ends among its drafts is cached up to its end") {
    DraftHarness harness(with(kLimits, [](auto& limits) { limits.cached_sequences = 2; }));
    harness.submit(1, 20, 50);
    for (int i = 0; i < 3; ++i) harness.step({.kind = Kind::advanced, .token = 1}); // 8 tokens a step
    harness.step({.kind = Kind::finished, .accepted = 1, .token = 902});
    CHECK_EQ(harness.scheduler.counters().running, 0);
    CHECK_EQ(harness.scheduler.counters().cells_cached, 22);
    // A request with that prefix: trimming comes before sharing.
    std::vector<Token> prompt = test::own_prompt(1, 20);
    prompt.insert(prompt.end(), {1, 901, 7, 7});
    harness.scheduler.submit(
        {.id = 2, .client = "", .prompt = prompt, .generate_max = 5, .uses_cache = true});
    const sched::StepPlan& plan = harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(test::in_words(plan), "2: 22+2*");
    REQUIRE_EQ(harness.kv_ops.size(), 2);
    CHECK(std::holds_alternative<sched::TrimSlot>(harness.kv_ops[0]));
    CHECK(std::holds_alternative<sched::SharePrefix>(harness.kv_ops[1]));
}

TEST_CASE(
    "drafts: there are at most as many as reserved cells, and never more tokens than the request may have") {
    DraftHarness harness(kLimits);
    harness.source.wanted = 100;
    harness.outputs = 100;
    harness.submit(1, 4, 4);
    harness.step({.kind = Kind::advanced, .token = 1});
    // Of four tokens one is known and one is sampled at the end: two drafts may be between.
    harness.step({.kind = Kind::finished, .accepted = 2, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{2});
    CHECK_EQ(harness.scheduler.counters().running, 0);
}

TEST_CASE("drafts: the limits of logits and tokens hold for all sequences of a step together") {
    DraftHarness harness(with(kLimits, [](auto& limits) { limits.batch_tokens = 10; }));
    harness.submit(1, 2, 50);
    harness.submit(2, 2, 50);
    harness.submit(3, 2, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    harness.outputs = 8;
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{3, 2, 0});
    CHECK_EQ(harness.source.asked, std::vector<base::RequestId>{1, 2, 3});
    harness.outputs = 100;
    harness.source.wanted = 100;
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted[0] + harness.drafted[1] + harness.drafted[2], 7);
}

TEST_CASE(
    "drafts: a request that is admitted with only its last token to compute leaves fewer logits for drafts") {
    DraftHarness harness(with(kLimits, [](auto& limits) { limits.cached_sequences = 2; }));
    harness.submit(1, 20, 50);
    harness.submit(2, 20, 50);
    for (int i = 0; i < 12; ++i) harness.step({.kind = Kind::advanced, .token = 1});
    // The third has exactly what the first has computed: all but its last token is cached.
    std::vector<Token> prompt = test::own_prompt(1, 20);
    prompt.push_back(1);
    harness.source.wanted = 100;
    harness.outputs = 8;
    harness.scheduler.submit(
        {.id = 3, .client = "", .prompt = prompt, .generate_max = 5, .uses_cache = true});
    const sched::StepPlan& plan = harness.step({.kind = Kind::advanced, .token = 1});
    REQUIRE_EQ(plan.batch.size(), 3);
    CHECK_EQ(plan.batch[2].tokens.size(), 1);
    size_t outputs = plan.batch.size();
    for (const size_t drafts : harness.drafted) outputs += drafts;
    CHECK_EQ(outputs, 8);
}

TEST_CASE("drafts: there are none beside prefill") {
    DraftHarness harness(kLimits);
    harness.submit(1, 4, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    harness.submit(2, 20, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{0, 0});
    CHECK(harness.source.asked.empty());
}

TEST_CASE("drafts: they use only cells that are reserved already") {
    DraftHarness harness(with(kRoomy, [](auto& limits) { limits.reserve_ahead = 3; }));
    harness.source.wanted = 100;
    harness.submit(1, 4, 50);
    harness.step({.kind = Kind::advanced, .token = 1});
    const int32_t reserved = harness.scheduler.counters().cells_reserved;
    for (const size_t drafts : {2, 1, 0}) {
        harness.step({.kind = Kind::advanced, .token = 1});
        CHECK_EQ(harness.drafted, std::vector<size_t>{drafts});
        CHECK_EQ(harness.scheduler.counters().cells_reserved, reserved);
    }
    // The sequence's own next token had no reserved cell left, so more were reserved.
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{3});
}

TEST_CASE(
    "drafts: where state is recurrent, all sequences of a step have as many as the one with the fewest") {
    DraftHarness harness(with(kLimits, [](auto& limits) {
        limits.checkpoints = 4;
        limits.has_equal_drafts = true;
    }));
    harness.submit(1, 4, 50);
    harness.submit(2, 4, 3);
    harness.step({.kind = Kind::advanced, .token = 1});
    // The second one has room for a single draft before its last token.
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, (std::vector<size_t>{1, 1}));
    harness.submit(3, 4, 50);
    harness.step({.kind = Kind::advanced, .accepted = 1, .token = 1});
    CHECK_EQ(harness.drafted, (std::vector<size_t>{0, 0, 0}));
}

TEST_CASE("drafts: none follow a token after which the recurrent state is saved") {
    DraftHarness harness(with(kLimits, [](auto& limits) {
        limits.batch_tokens = 24;
        limits.checkpoints = 4;
        limits.has_equal_drafts = true;
    }));
    harness.scheduler.submit({.id = 1,
                              .client = "",
                              .prompt = test::own_prompt(1, 20),
                              .generate_max = 50,
                              .uses_cache = true,
                              .boundaries = {19, 20}});
    harness.step({.kind = Kind::advanced, .token = 1});
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{0});
    harness.step({.kind = Kind::advanced, .token = 1});
    CHECK_EQ(harness.drafted, std::vector<size_t>{3});
    const auto is_saved = [](const auto& op) {
        const auto* save = std::get_if<sched::SaveCheckpoint>(&op);
        return save != nullptr && save->length == 20;
    };
    CHECK(std::ranges::any_of(harness.kv_ops, is_saved));
}
