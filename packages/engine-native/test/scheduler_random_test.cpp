// sched::Scheduler against a naive engine: thousands of requests at random, some with images, with so few cells that
// preemption is common. What must hold in each step is in naive_engine.h.
#include "check.h"
#include "kv_follower.h"
#include "naive_engine.h"
#include "naive_images.h"
#include "random.h"
#include "sched/scheduler.h"
#include "sched/step.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using test::Random;

namespace {

constexpr uint64_t kSeeds = 100;
constexpr base::RequestId kRequestsPerSeed = 400;

/// What a seed stands for: a scheduler's limits and its load.
struct World {
    sched::Limits limits;
    int32_t prefill_busy;
    /// Most tokens of a step that may want logits; 0 without drafts.
    int32_t outputs;
    /// Texts that prompts begin with, so that they have common prefixes.
    int32_t families;
    int32_t clients;
    /// Sets of adapters beside none.
    int32_t adapter_sets;
    /// Salts beside none.
    int32_t salts;
    int32_t priorities;
    /// The lowest of them is that of the background.
    bool has_background;
    /// Most requests in flight.
    int32_t in_flight_max;
    int32_t arrival_percent;
    int32_t cancel_percent;
    int32_t fail_percent;
    /// Requests that go on past the context's end.
    int32_t endless_percent;
    /// Steps after which everything computed is lost.
    int32_t loss_per_thousand;
    int32_t copy_fail_percent;
    test::NaiveImageKinds images;
    /// Steps that an image may be late by.
    int32_t images_late_max;
    /// Tokens that are late.
    int32_t slow_percent;
    /// The reports of blocks are followed, now and then with a delay.
    bool is_followed;
    /// As in StepBudget.
    bool copies_evicted;
};

World random_world(Random& random) {
    // Only long texts are swapped out: some worlds have them.
    const bool is_long = random.chance(15);
    const int32_t context_length = is_long ? random.between(300, 1500) : random.between(3, 160);
    const int32_t sequences = random.between(1, 8);
    const int32_t checkpoints = random.chance(40) ? random.between(1, 12) : 0;
    const int32_t host_tier_tokens = random.chance(70) ? random.between(0, 12 * context_length) : 0;
    World world{
        .limits = {.cells = context_length +
                            random.between(0, random.chance(50) ? 5 * context_length : context_length),
                   .context_length = context_length,
                   .sequences = sequences,
                   .cached_sequences = random.between(0, 6),
                   .batch_tokens = sequences + random.between(0, 2 * context_length),
                   .checkpoints = checkpoints,
                   .reserve_ahead = random.between(1, 8),
                   .can_shift = random.chance(60),
                   .host_tier_bytes = static_cast<uint64_t>(10 * host_tier_tokens),
                   .checkpoint_bytes = static_cast<uint64_t>(checkpoints > 0 ? random.between(1, 500) : 0)},
        .prefill_busy = random.between(1, 16),
        .outputs = 0,
        .families = random.between(1, 6),
        .clients = random.between(1, 20),
        .adapter_sets = random.chance(40) ? random.between(1, 4) : 0,
        .salts = random.chance(40) ? random.between(1, 4) : 0,
        .priorities = random.chance(30) ? random.between(2, 3) : 1,
        .has_background = random.chance(50),
        .in_flight_max = random.between(1, 24),
        .arrival_percent = random.between(5, 100),
        .cancel_percent = random.between(0, 8),
        .fail_percent = random.between(0, 2),
        .endless_percent = random.chance(50) ? random.between(1, 60) : 0,
        .loss_per_thousand = random.chance(50) ? random.between(1, 5) : 0,
        .copy_fail_percent = random.chance(20) ? random.between(1, 10) : 0,
        .images = {},
        .images_late_max = 0,
        .slow_percent = 0,
        .is_followed = false,
        .copies_evicted = random.chance(80),
    };
    if (random.chance(70)) world.outputs = sequences + random.between(0, 16);
    world.limits.has_equal_drafts = checkpoints > 0;
    if (random.chance(50)) {
        const int32_t most = std::min(world.limits.batch_tokens, context_length / 2 + 1);
        world.images = {.count = random.between(1, 12), .tokens_max = random.between(1, most)};
        world.images_late_max = random.chance(70) ? random.between(1, 6) : 0;
        world.limits.has_whole_images = random.chance(40);
    }
    if (random.chance(30)) world.slow_percent = random.between(1, 30);
    // Looking at every token of every text takes its time.
    if (!is_long && random.chance(25)) {
        world.is_followed = true;
        world.limits.block_tokens = random.between(1, 12);
    }
    return world;
}

/// Guesses at random, sometimes nothing, sometimes an image.
class RandomDrafter final : public sched::DraftSource {
public:
    RandomDrafter(uint64_t seed, const test::NaiveEngine& engine) : random_(seed), engine_(engine) {}

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override {
        are_known_ &= engine_.knows(id, tokens);
        drafts_.clear();
        for (int32_t left = random_.between(0, most); left > 0; --left)
            drafts_.push_back(random_.chance(2) ? base::image_token(1, true) : random_.between(0, 3));
        return drafts_;
    }

    /// It was only asked about tokens that a request has.
    bool are_known() const { return are_known_; }

private:
    Random random_;
    const test::NaiveEngine& engine_;
    std::vector<base::Token> drafts_;
    bool are_known_ = true;
};

/// What happened in all lives together.
struct Figures {
    base::RequestId requests = 0;
    uint64_t preemptions = 0;
    uint64_t tokens_shared = 0;
    uint64_t shifts = 0;
    uint64_t recomputed = 0;
    uint64_t drafts_accepted = 0;
    uint64_t drafts_rejected = 0;
    uint64_t tokens_swapped_in = 0;
    uint64_t images_late = 0;
    uint64_t images_computed = 0;
    uint64_t late_tokens = 0;
    uint64_t waits_for_adapters = 0;
    uint64_t set_aside = 0;
    uint64_t blocks_stored = 0;
    uint64_t blocks_swapped = 0;
    uint64_t blocks_removed = 0;
};

/// How much longer than a context an endless request's reply may be.
constexpr int32_t kContextsMax = 3;

/// Steps by which a late token may be late, on average over a long reply.
constexpr int32_t kSlowSteps = 2;

class Life {
public:
    Life(uint64_t seed, Figures& figures)
        : figures_(figures),
          random_(seed),
          world_(random_world(random_)),
          scheduler_(world_.limits),
          engine_(world_.limits),
          drafter_(seed, engine_),
          follower_(std::max(1, world_.limits.block_tokens)),
          images_(seed, world_.images_late_max) {
        engine_.set_copy_fail_percent(world_.copy_fail_percent);
        engine_.set_slow_percent(world_.slow_percent);
    }

    /// Empty, or what is wrong.
    std::string run() {
        int64_t step = 0;
        for (; submitted_ < kRequestsPerSeed || !engine_.ids().empty(); ++step) {
            arrive(step);
            if (random_.chance(world_.cancel_percent)) cancel_one();
            const std::string complaint = take_step(step);
            if (!complaint.empty()) return complaint;
        }
        // More plans free the last requests' slots, and copy what is left ahead.
        const sched::StepPlan& plan = scheduler_.schedule(budget());
        for (; !plan.kv_ops.empty(); ++step) {
            scheduler_.update(
                engine_.execute(plan, budget(), scheduler_.counters().preemptions, random_, 0, step));
            scheduler_.schedule(budget());
        }
        add_figures();
        return check_end();
    }

private:
    void arrive(int64_t step) {
        while (submitted_ < kRequestsPerSeed && std::ssize(engine_.ids()) < world_.in_flight_max &&
               random_.chance(world_.arrival_percent)) {
            const sched::Request request = random_request(++submitted_);
            engine_.submit(request, random_.between(1, request.generate_max), step);
            scheduler_.submit(request);
        }
    }

    sched::Request random_request(base::RequestId id) {
        const int32_t context_length = world_.limits.context_length;
        // Short prompts with long replies are the requests that run out of cells while they run.
        const bool is_growing = random_.chance(60);
        std::vector<base::Token> prompt = random_prompt(static_cast<size_t>(
            random_.between(1, is_growing ? 1 + context_length / 8 : context_length - 1)));
        const auto prompt_tokens = static_cast<int32_t>(prompt.size());
        const int32_t room = context_length - prompt_tokens;
        sched::Request request{.id = id,
                               .client = std::to_string(random_.between(1, world_.clients)),
                               .prompt = std::move(prompt),
                               .generate_max = is_growing ? room : random_.between(1, room),
                               .uses_cache = uses_cache(),
                               .boundaries = random_lengths(random_.between(1, 40), prompt_tokens)};
        std::erase_if(request.boundaries,
                      [&](int32_t length) { return base::is_inside_image(request.prompt, length); });
        if (world_.adapter_sets > 0 && random_.chance(60))
            request.adapters = std::to_string(random_.between(1, world_.adapter_sets));
        if (world_.salts > 0 && random_.chance(60))
            request.cache_salt = std::to_string(random_.between(1, world_.salts));
        request.priority = random_.between(0, world_.priorities - 1);
        if (world_.has_background && request.priority == 0) request.priority = sched::kBackground;
        if (random_.chance(world_.endless_percent)) {
            const int32_t keep =
                base::last_edge(request.prompt, random_.between(0, (context_length - 1) / 2));
            request.turns.emplace(keep, random_lengths(keep + 1, prompt_tokens));
            request.generate_max = kContextsMax * context_length;
        }
        return request;
    }

    /// A checkpoint belongs to all sequences that have passed it: with checkpoints, a follower would have to know which one saved it.
    bool uses_cache() { return random_.chance(85) || (world_.is_followed && world_.limits.checkpoints > 0); }

    std::vector<int32_t> random_lengths(int32_t first, int32_t last) {
        std::vector<int32_t> lengths;
        for (int32_t at = first; at <= last; at += random_.between(1, 40)) lengths.push_back(at);
        return lengths;
    }

    /// A prefix of a family's or an ended request's text, and then something of its own. Now and then it ends with an image.
    std::vector<base::Token> random_prompt(size_t length) {
        const auto& ended = engine_.ended();
        const bool goes_on = !ended.empty() && random_.chance(40);
        std::vector<base::Token> prompt =
            goes_on ? random_.one_of(ended) : text_of(random_.between(1, world_.families));
        const size_t common = std::min(prompt.size(), static_cast<size_t>(random_.below(length + 1)));
        prompt.resize(static_cast<size_t>(base::last_edge(prompt, static_cast<int32_t>(common))));
        const auto& images = world_.images;
        while (prompt.size() < length) {
            const base::ImageId image = images.count > 0 ? random_.between(1, images.count) : 0;
            const bool fits = prompt.size() + static_cast<size_t>(images.tokens_of(image)) <= length;
            if (image > 0 && fits && random_.chance(10)) images.append_to(prompt, image);
            else prompt.push_back(random_.between(0, 3));
        }
        if (random_.chance(10) && std::ranges::any_of(prompt, base::is_image)) {
            while (!base::is_image(prompt.back())) prompt.pop_back();
        }
        return prompt;
    }

    /// A family's text, at least as long as the context.
    std::vector<base::Token> text_of(base::Token family) const {
        std::vector<base::Token> text;
        const auto& images = world_.images;
        for (int32_t i = 0; std::ssize(text) < world_.limits.context_length; ++i) {
            const bool has_image = images.count > 0 && i % 20 == family;
            if (has_image) images.append_to(text, 1 + (family + i) % images.count);
            text.push_back(100 * family + i);
        }
        return text;
    }

    void cancel_one() {
        const std::vector<base::RequestId> ids = engine_.ids();
        if (ids.empty()) return;
        const base::RequestId id = random_.one_of(ids);
        engine_.cancel(id);
        is_cancel_known_ &= scheduler_.cancel(id);
        scheduler_.check_integrity();
    }

    sched::StepBudget budget() {
        return {.prefill_busy = world_.prefill_busy,
                .outputs = world_.outputs,
                .copies_evicted = world_.copies_evicted,
                .drafts = world_.outputs > 0 ? &drafter_ : nullptr,
                .images = &images_};
    }

    /// Empty, or what is wrong.
    std::string take_step(int64_t step) {
        const sched::StepPlan& plan = scheduler_.schedule(budget());
        engine_.set_waiting_for_images(images_.take_waiting());
        sched::StepResult result = engine_.execute(plan, budget(), scheduler_.counters().preemptions, random_,
                                                   world_.fail_percent, step);
        if (!engine_.complaint().empty()) return engine_.complaint();
        add_failed_checkpoints(result);
        add_late_tokens(result, step);
        note_images(plan, result.outcomes);
        result.is_cache_lost = random_.between(1, 1000) <= world_.loss_per_thousand;
        scheduler_.update(result);
        if (result.is_cache_lost) engine_.lose_cache();
        scheduler_.check_integrity();
        if (!agree_on_late_tokens()) return "a token is awaited by the scheduler or by the engine alone";
        if (const std::string complaint = follow(); !complaint.empty()) return complaint;
        if (!drafter_.are_known()) return "drafts are wanted of tokens that no request has";
        const sched::Counters counters = scheduler_.counters();
        if (counters.host_tier_bytes + counters.host_tier_text_bytes > world_.limits.host_tier_bytes)
            return "the host KV tier is over its limit";
        if (!is_cancel_known_) return "a request in flight cannot be cancelled";
        if (scheduler_.ids() != engine_.ids())
            return "the scheduler and the engine have different requests in flight";
        // One of a low priority may wait for as long as others come.
        if (world_.priorities == 1 && engine_.longest_stay() > stay_max())
            return "a request had to stay too long, up to step " + std::to_string(step);
        return "";
    }

    std::string follow() {
        sched::KvBlocks* blocks = scheduler_.kv_cache().blocks();
        if (blocks == nullptr || random_.chance(20)) return "";
        if (random_.chance(1)) blocks->restate();
        while (blocks->has_changes()) {
            const sched::KvReport report = blocks->take_report();
            figures_.blocks_removed += report.removed.size();
            for (const sched::KvReport::Stored& stored : report.stored) {
                const bool is_host = stored.medium == sched::KvMedium::host;
                (is_host ? figures_.blocks_swapped : figures_.blocks_stored) += stored.hashes.size();
            }
            if (std::string complaint = follower_.follow(report); !complaint.empty()) return complaint;
        }
        return follower_.compare(scheduler_.kv_cache(),
                                 world_.limits.sequences + world_.limits.cached_sequences);
    }

    bool agree_on_late_tokens() const {
        return std::ranges::all_of(engine_.ids(), [this](base::RequestId id) {
            return scheduler_.awaits_token(id) == engine_.awaits_token(id);
        });
    }

    /// Some of the tokens that were awaited before this step.
    void add_late_tokens(sched::StepResult& result, int64_t step) {
        for (const base::RequestId id : engine_.ids()) {
            if (!scheduler_.awaits_token(id) || random_.chance(50)) continue;
            result.late_tokens.push_back(engine_.late_token(id, random_, step));
            figures_.late_tokens += 1;
        }
    }

    /// Some states could not be saved.
    void add_failed_checkpoints(sched::StepResult& result) {
        for (const base::CheckpointId checkpoint : engine_.saved()) {
            if (!random_.chance(world_.fail_percent)) continue;
            result.failed_checkpoints.push_back(checkpoint);
            engine_.forget(checkpoint);
        }
    }

    void note_images(const sched::StepPlan& plan, const std::vector<sched::Outcome>& outcomes) {
        for (size_t i = 0; i < plan.batch.size(); ++i) {
            const sched::BatchEntry& step = plan.batch[i];
            if (!step.is_image() || outcomes[i].kind == sched::Outcome::Kind::skipped) continue;
            const base::ImageId image = base::image_of(step.tokens.front());
            const int32_t end = step.image_offset + static_cast<int32_t>(step.tokens.size());
            if (end < world_.images.tokens_of(image)) continue;
            images_.computed(step.id, image);
            figures_.images_computed += 1;
        }
    }

    /// In steps, each for one token at worst, which may be an image that is late. If as many of the longest requests as may be in
    /// flight were served one by one, the last would stay so long; as much again is for requests that came later and were served
    /// before in fairness, and for what preemption computes twice.
    int64_t stay_max() const {
        // Each cut lets an endless request compute at most a context anew, and comes after half a context at the least.
        const int64_t contexts = world_.endless_percent > 0 ? 1 + 3 * kContextsMax : 1;
        const int64_t steps = 2 * contexts * world_.in_flight_max * world_.limits.context_length;
        const int64_t late_max = std::max(world_.images_late_max, world_.slow_percent > 0 ? kSlowSteps : 0);
        return (1 + late_max) * steps + 10;
    }

    std::string check_end() const {
        if (!engine_.complaint().empty()) return engine_.complaint();
        const sched::Counters counters = scheduler_.counters();
        if (counters.running != 0 || counters.waiting != 0) return "requests are left when all have ended";
        if (counters.cells_reserved != 0) return "cells are lost";
        if (static_cast<size_t>(counters.cells_cached) != engine_.cells())
            return "cached cells are miscounted";
        if (counters.host_tier_bytes != engine_.host_tier().bytes() ||
            static_cast<size_t>(counters.segments) != engine_.host_tier().size())
            return "the host KV tier is miscounted";
        return "";
    }

    void add_figures() {
        figures_.requests += submitted_;
        figures_.preemptions += engine_.preemptions();
        figures_.tokens_shared += engine_.tokens_shared();
        figures_.shifts += engine_.shifts();
        figures_.recomputed += engine_.recomputed();
        figures_.drafts_accepted += engine_.drafts_accepted();
        figures_.drafts_rejected += engine_.drafts_rejected();
        figures_.tokens_swapped_in += engine_.tokens_swapped_in();
        figures_.images_late += images_.late();
        figures_.waits_for_adapters += engine_.turns().waits();
        figures_.set_aside += engine_.turns().set_aside();
    }

    Figures& figures_;
    Random random_;
    const World world_;
    sched::Scheduler scheduler_;
    test::NaiveEngine engine_;
    RandomDrafter drafter_;
    test::KvFollower follower_;
    test::NaiveImageSource images_;
    base::RequestId submitted_ = 0;
    bool is_cancel_known_ = true;
};

} // namespace

TEST_CASE("scheduler: serves everybody, loses no token and mixes up no slot, whoever comes, goes and fails") {
    const std::vector<uint64_t> seeds = test::seeds(kSeeds);
    Figures all;
    for (const uint64_t seed : seeds) {
        CAPTURE(seed);
        const test::SeedOnAbort on_abort(seed);
        const std::string complaint = Life(seed, all).run();
        CHECK_EQ(complaint, "");
        if (!complaint.empty()) return;
    }
    if (seeds.size() < kSeeds) return;
    // The test means something only while the worlds are crowded and their texts begin alike.
    CHECK_EQ(all.requests, kSeeds * kRequestsPerSeed);
    CHECK(all.preemptions > all.requests / 20);
    CHECK(all.tokens_shared > all.requests / 4);
    CHECK(all.recomputed > all.requests / 100);
    CHECK(all.shifts - all.recomputed > all.requests / 100);
    CHECK(all.drafts_accepted > all.requests);
    CHECK(all.drafts_rejected > all.requests);
    CHECK(all.tokens_swapped_in > all.requests / 4);
    CHECK(all.images_late > all.requests / 4);
    CHECK(all.images_computed > all.requests / 4);
    CHECK(all.late_tokens > all.requests / 4);
    CHECK(all.waits_for_adapters > all.requests);
    CHECK(all.set_aside > all.requests / 4);
    CHECK(all.blocks_stored > all.requests / 4);
    CHECK(all.blocks_swapped > all.requests / 20);
    CHECK(all.blocks_removed > all.requests / 4);
}
