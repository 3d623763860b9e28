// sched::Scheduler against a naive engine: thousands of requests at random, some with images, with so few cells that
// preemption is common. What must hold in each turn is in naive_engine.h.
#include "check.h"
#include "kv_follower.h"
#include "naive_engine.h"
#include "naive_images.h"
#include "random.h"
#include "sched/drafter.h"
#include "sched/scheduler.h"

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

/// What a seed stands for: a scheduler's limits and the people who use it.
struct World {
    sched::Limits limits;
    int32_t budget_busy;
    /// Most tokens of a turn whose logits are wanted; 0 where nobody guesses.
    int32_t outputs;
    /// Texts that prompts begin with, so that beginnings are common.
    int32_t families;
    int32_t clients;
    /// Most requests in the house at a time.
    int32_t house_max;
    int32_t arrival_percent;
    int32_t cancel_percent;
    int32_t fail_percent;
    /// Requests that go on past the context's end.
    int32_t endless_percent;
    /// Of turns after which everything computed is lost.
    int32_t loss_per_thousand;
    int32_t copy_fail_percent;
    test::NaiveImageKinds images;
    /// Turns that an image may be late by.
    int32_t images_late_max;
    /// Tokens that are told later than in their turn.
    int32_t slow_percent;
    /// Somebody follows which blocks can be reused, now and then with a delay.
    bool is_followed;
};

World random_world(Random& random) {
    // Host memory is for long texts: some worlds have them.
    const bool is_long = random.chance(15);
    const int32_t context_length = is_long ? random.between(300, 1500) : random.between(3, 160);
    const int32_t sequences = random.between(1, 8);
    const int32_t checkpoints = random.chance(40) ? random.between(1, 12) : 0;
    const int32_t stash_tokens = random.chance(70) ? random.between(0, 12 * context_length) : 0;
    World world{
        .limits = {.cells = context_length +
                            random.between(0, random.chance(50) ? 5 * context_length : context_length),
                   .context_length = context_length,
                   .sequences = sequences,
                   .donors = random.between(0, 6),
                   .batch_tokens = sequences + random.between(0, 2 * context_length),
                   .checkpoints = checkpoints,
                   .reserve_ahead = random.between(1, 8),
                   .can_shift = random.chance(60),
                   .stash_bytes = static_cast<uint64_t>(10 * stash_tokens),
                   .checkpoint_bytes = static_cast<uint64_t>(checkpoints > 0 ? random.between(1, 500) : 0)},
        .budget_busy = random.between(1, 16),
        .outputs = 0,
        .families = random.between(1, 6),
        .clients = random.between(1, 20),
        .house_max = random.between(1, 24),
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
    };
    if (world.limits.checkpoints == 0 && random.chance(70)) world.outputs = sequences + random.between(0, 16);
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
class RandomDrafter final : public sched::Drafter {
public:
    RandomDrafter(uint64_t seed, const test::NaiveEngine& engine) : random_(seed), engine_(engine) {}

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override {
        are_known_ &= engine_.knows(id, tokens);
        guesses_.clear();
        for (int32_t left = random_.between(0, most); left > 0; --left)
            guesses_.push_back(random_.chance(2) ? base::image_token(1, true) : random_.between(0, 3));
        return guesses_;
    }

    /// It was never asked about other tokens than somebody has.
    bool are_known() const { return are_known_; }

private:
    Random random_;
    const test::NaiveEngine& engine_;
    std::vector<base::Token> guesses_;
    bool are_known_ = true;
};

struct Report {
    std::string complaint;
    base::RequestId requests = 0;
    uint64_t preemptions = 0;
    uint64_t tokens_shared = 0;
    uint64_t shifts = 0;
    uint64_t recomputed = 0;
    uint64_t drafts_accepted = 0;
    uint64_t drafts_rejected = 0;
    uint64_t tokens_restored = 0;
    uint64_t images_late = 0;
    uint64_t images_computed = 0;
    uint64_t told_later = 0;
    uint64_t blocks_stored = 0;
    uint64_t blocks_swapped = 0;
    uint64_t blocks_removed = 0;
};

/// How much longer than a context an endless request's answer may be.
constexpr int32_t kContextsMax = 3;

/// Turns that a token which is told later may be late by, in the mean of a long answer.
constexpr int32_t kSlowTurns = 2;

class Life {
public:
    explicit Life(uint64_t seed)
        : random_(seed),
          world_(random_world(random_)),
          scheduler_(world_.limits),
          engine_(world_.limits),
          drafter_(seed, engine_),
          follower_(std::max(1, world_.limits.block_tokens)),
          images_(seed, world_.images_late_max) {
        engine_.set_copy_fail_percent(world_.copy_fail_percent);
        engine_.set_slow_percent(world_.slow_percent);
    }

    Report run() {
        int64_t turn = 0;
        for (; submitted_ < kRequestsPerSeed || !engine_.ids().empty(); ++turn) {
            arrive(turn);
            if (random_.chance(world_.cancel_percent)) cancel_one();
            const std::string complaint = take_turn(turn);
            if (!complaint.empty()) return report(complaint);
        }
        // The last ones' slots are released by one more plan.
        const sched::Plan& plan = scheduler_.plan(budget());
        engine_.compute(plan, budget(), scheduler_.counters().preemptions, random_, 0, turn);
        report_copies(plan);
        scheduler_.plan(budget());
        return report(check_end());
    }

private:
    void arrive(int64_t turn) {
        while (submitted_ < kRequestsPerSeed && std::ssize(engine_.ids()) < world_.house_max &&
               random_.chance(world_.arrival_percent)) {
            const sched::Request request = random_request(++submitted_);
            engine_.submit(request, random_.between(1, request.generate_max), turn);
            scheduler_.submit(request);
        }
    }

    sched::Request random_request(base::RequestId id) {
        const int32_t context_length = world_.limits.context_length;
        // Short prompts with long answers are the ones that run out of cells on their way.
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
        if (random_.chance(world_.endless_percent)) {
            const int32_t keep =
                base::last_edge(request.prompt, random_.between(0, (context_length - 1) / 2));
            request.turns.emplace(keep, random_lengths(keep + 1, prompt_tokens));
            request.generate_max = kContextsMax * context_length;
        }
        return request;
    }

    /// A checkpoint that others have passed too is nobody's alone: there, who follows would have to know who made it.
    bool uses_cache() { return random_.chance(85) || (world_.is_followed && world_.limits.checkpoints > 0); }

    std::vector<int32_t> random_lengths(int32_t first, int32_t last) {
        std::vector<int32_t> lengths;
        for (int32_t at = first; at <= last; at += random_.between(1, 40)) lengths.push_back(at);
        return lengths;
    }

    /// The beginning of a family's text or of an ended request's, and then something of its own. Now and then the last thing in it
    /// is an image.
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

    /// A family's, as long as the context at least.
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

    sched::TurnBudget budget() {
        return {.prompt_busy = world_.budget_busy,
                .outputs = world_.outputs,
                .drafter = world_.outputs > 0 ? &drafter_ : nullptr,
                .images = &images_};
    }

    /// Empty, or what is wrong.
    std::string take_turn(int64_t turn) {
        const sched::Plan& plan = scheduler_.plan(budget());
        engine_.set_waiting_for_images(images_.take_waiting());
        const std::vector<sched::Outcome> outcomes = engine_.compute(
            plan, budget(), scheduler_.counters().preemptions, random_, world_.fail_percent, turn);
        if (!engine_.complaint().empty()) return engine_.complaint();
        forget_some();
        report_copies(plan);
        note_images(plan, outcomes);
        if (!plan.steps.empty()) scheduler_.apply(outcomes);
        if (!tell_some(turn)) return "a token is awaited by the scheduler or by the engine alone";
        if (random_.between(1, 1000) <= world_.loss_per_thousand) {
            scheduler_.start_over();
            engine_.start_over();
        }
        scheduler_.check_integrity();
        if (const std::string complaint = follow(); !complaint.empty()) return complaint;
        if (!drafter_.are_known()) return "guesses are wanted on tokens that nobody has";
        const sched::Counters counters = scheduler_.counters();
        if (counters.stash_bytes + counters.stash_text_bytes > world_.limits.stash_bytes)
            return "host memory is over its limit";
        if (!is_cancel_known_) return "somebody who is in the house cannot be cancelled";
        if (scheduler_.ids() != engine_.ids())
            return "the scheduler and the engine have different people in the house";
        if (engine_.longest_stay() > stay_max())
            return "somebody had to stay too long, up to turn " + std::to_string(turn);
        return "";
    }

    std::string follow() {
        sched::KvBlocks* blocks = scheduler_.cells().blocks();
        if (blocks == nullptr || random_.chance(20)) return "";
        if (random_.chance(1)) blocks->restate();
        while (blocks->has_changes()) {
            const sched::KvReport report = blocks->take_report();
            blocks_removed_ += report.removed.size();
            for (const sched::KvReport::Stored& stored : report.stored) {
                const bool is_host = stored.medium == sched::KvMedium::host;
                (is_host ? blocks_swapped_ : blocks_stored_) += stored.hashes.size();
            }
            if (std::string complaint = follower_.follow(report); !complaint.empty()) return complaint;
        }
        return follower_.compare(scheduler_.cells(), world_.limits.sequences + world_.limits.donors);
    }

    /// False when they disagree about who waits for a token.
    bool tell_some(int64_t turn) {
        if (world_.slow_percent == 0) return true;
        for (const base::RequestId id : engine_.ids()) {
            if (scheduler_.awaits_token(id) != engine_.awaits_token(id)) return false;
            if (!engine_.awaits_token(id) || random_.chance(50)) continue;
            scheduler_.sampled(id, engine_.tell(id, random_, turn));
            told_later_ += 1;
        }
        return true;
    }

    /// Some states could not be saved.
    void forget_some() {
        for (const base::CheckpointId checkpoint : engine_.saved()) {
            if (!random_.chance(world_.fail_percent)) continue;
            scheduler_.forget(checkpoint);
            engine_.forget(checkpoint);
        }
    }

    void note_images(const sched::Plan& plan, const std::vector<sched::Outcome>& outcomes) {
        for (size_t i = 0; i < plan.steps.size(); ++i) {
            const sched::Step& step = plan.steps[i];
            if (!step.is_image() || outcomes[i].kind == sched::Outcome::Kind::skipped) continue;
            const base::ImageId image = base::image_of(step.tokens.front());
            const int32_t end = step.image_offset + static_cast<int32_t>(step.tokens.size());
            if (end < world_.images.tokens_of(image)) continue;
            images_.computed(step.id, image);
            images_computed_ += 1;
        }
    }

    void report_copies(const sched::Plan& plan) {
        for (const auto& [stash, bytes, is_kept] : engine_.made()) scheduler_.stashed(stash, bytes, is_kept);
        for (size_t i = 0; i < plan.restores.size(); ++i) {
            scheduler_.restored(plan.restores[i], engine_.restored()[i]);
        }
    }

    /// In turns, each for one token at worst, which may be an image that is late. Were a full house of the longest requests served one by one, the last would stay so long; as
    /// much again is for those who came later and were served before in fairness, and for what preemption
    /// computes twice.
    int64_t stay_max() const {
        // Each cut lets an endless request compute at most a context anew, and comes after half a context at the least.
        const int64_t contexts = world_.endless_percent > 0 ? 1 + 3 * kContextsMax : 1;
        const int64_t turns = 2 * contexts * world_.house_max * world_.limits.context_length;
        const int64_t late_max = std::max(world_.images_late_max, world_.slow_percent > 0 ? kSlowTurns : 0);
        return (1 + late_max) * turns + 10;
    }

    std::string check_end() const {
        if (!engine_.complaint().empty()) return engine_.complaint();
        const sched::Counters counters = scheduler_.counters();
        if (counters.running != 0 || counters.waiting != 0) return "an empty house has people in it";
        if (counters.cells_reserved != 0) return "cells are lost";
        if (static_cast<size_t>(counters.cells_cached) != engine_.cells())
            return "donors' cells are miscounted";
        if (counters.stash_bytes != engine_.host_memory().bytes() ||
            static_cast<size_t>(counters.stashes) != engine_.host_memory().size())
            return "host memory is miscounted";
        return "";
    }

    Report report(const std::string& complaint) const {
        return {.complaint = complaint,
                .requests = submitted_,
                .preemptions = engine_.preemptions(),
                .tokens_shared = engine_.tokens_shared(),
                .shifts = engine_.shifts(),
                .recomputed = engine_.recomputed(),
                .drafts_accepted = engine_.drafts_accepted(),
                .drafts_rejected = engine_.drafts_rejected(),
                .tokens_restored = engine_.tokens_restored(),
                .images_late = images_.late(),
                .images_computed = images_computed_,
                .told_later = told_later_,
                .blocks_stored = blocks_stored_,
                .blocks_swapped = blocks_swapped_,
                .blocks_removed = blocks_removed_};
    }

    Random random_;
    const World world_;
    sched::Scheduler scheduler_;
    test::NaiveEngine engine_;
    RandomDrafter drafter_;
    test::KvFollower follower_;
    test::NaiveImageSource images_;
    base::RequestId submitted_ = 0;
    uint64_t images_computed_ = 0;
    uint64_t told_later_ = 0;
    uint64_t blocks_stored_ = 0;
    uint64_t blocks_swapped_ = 0;
    uint64_t blocks_removed_ = 0;
    bool is_cancel_known_ = true;
};

} // namespace

TEST_CASE("scheduler: serves everybody, loses no token and mixes up no slot, whoever comes, goes and fails") {
    const std::vector<uint64_t> seeds = test::seeds(kSeeds);
    base::RequestId requests = 0;
    uint64_t preemptions = 0;
    uint64_t tokens_shared = 0;
    uint64_t shifts = 0;
    uint64_t recomputed = 0;
    uint64_t drafts_accepted = 0;
    uint64_t drafts_rejected = 0;
    uint64_t tokens_restored = 0;
    uint64_t images_late = 0;
    uint64_t images_computed = 0;
    uint64_t told_later = 0;
    uint64_t blocks_stored = 0;
    uint64_t blocks_swapped = 0;
    uint64_t blocks_removed = 0;
    for (const uint64_t seed : seeds) {
        CAPTURE(seed);
        const test::SeedOnAbort on_abort(seed);
        const Report report = Life(seed).run();
        CHECK_EQ(report.complaint, "");
        if (!report.complaint.empty()) return;
        requests += report.requests;
        preemptions += report.preemptions;
        tokens_shared += report.tokens_shared;
        shifts += report.shifts;
        recomputed += report.recomputed;
        drafts_accepted += report.drafts_accepted;
        drafts_rejected += report.drafts_rejected;
        tokens_restored += report.tokens_restored;
        images_late += report.images_late;
        images_computed += report.images_computed;
        told_later += report.told_later;
        blocks_stored += report.blocks_stored;
        blocks_swapped += report.blocks_swapped;
        blocks_removed += report.blocks_removed;
    }
    if (seeds.size() < kSeeds) return;
    // The test means something only while the worlds are crowded and their texts begin alike.
    CHECK_EQ(requests, kSeeds * kRequestsPerSeed);
    CHECK(preemptions > requests / 20);
    CHECK(tokens_shared > requests / 4);
    CHECK(recomputed > requests / 100);
    CHECK(shifts - recomputed > requests / 100);
    CHECK(drafts_accepted > requests);
    CHECK(drafts_rejected > requests);
    CHECK(tokens_restored > requests / 4);
    CHECK(images_late > requests / 4);
    CHECK(images_computed > requests / 4);
    CHECK(told_later > requests / 4);
    CHECK(blocks_stored > requests / 4);
    CHECK(blocks_swapped > requests / 20);
    CHECK(blocks_removed > requests / 4);
}
