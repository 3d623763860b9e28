#include "engine/token_sampler.h"

#include "engine/drafter.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

namespace engine {

using sched::Outcome;
using Kind = sched::Outcome::Kind;

namespace {

/// Maximum number of matching steps for one token in one go: nearly all need less than a hundredth of it.
constexpr size_t kGrammarStepsAlone = 250'000;

constexpr float kLowestLogit = -std::numeric_limits<float>::infinity();

/// Sampling that needs more is abandoned and restarted as slow sampling.
class ShareAtOnce final : public grammar::WorkShare {
public:
    explicit ShareAtOnce(size_t steps) { left = steps; }

protected:
    void used_up() override { throw grammar::ShareUsedUp(); }
};

} // namespace

void TokenSampler::note_prompt(const sched::BatchEntry& entry, llama::Context& context, size_t part) {
    Generation& generation = *generations_.at(entry.id);
    for (size_t i = 0; i < entry.tokens.size(); ++i)
        generation.note_prompt(entry.first + static_cast<int32_t>(i), context.logits(part, i), candidates_);
}

bool TokenSampler::do_likeliest_suffice(const sched::BatchEntry& entry, const llama::Context& context) const {
    if (context.selected() == 0 || !entry.samples || entry.wants_all_logits) return false;
    return generations_.at(entry.id)->is_sampled_among(context.selected(), entry.drafts.size() + 1);
}

Generation::Sampled TokenSampler::sample_among(Generation& generation,
                                               const llama::Context::Likeliest& likeliest) {
    candidates_.list.clear();
    for (size_t i = 0; i < likeliest.tokens.size(); ++i) {
        const float logit = likeliest.logits[i];
        candidates_.list.push_back(
            {.token = likeliest.tokens[i], .logit = std::isnan(logit) ? kLowestLogit : logit, .p = 0});
    }
    return generation.sample_among(candidates_, Clock::now());
}

Outcome TokenSampler::sample(const sched::BatchEntry& entry, llama::Context& context, size_t part,
                             bool likeliest_suffice) {
    Generation& generation = *generations_.at(entry.id);
    const size_t granted = std::min(steps_left_, kGrammarStepsAlone);
    ShareAtOnce share(granted);
    const size_t before = entry.outputs_before_last();
    bool is_slow = false;
    const auto [accepted, token, is_last] = verify(entry.drafts, [&](size_t drafts) {
        if (likeliest_suffice) return sample_among(generation, context.likeliest(part, before + drafts));
        const auto sampled =
            generation.sample(context.logits(part, before + drafts), candidates_, share, Clock::now());
        is_slow = !sampled;
        return sampled.value_or(Generation::Sampled{.token = 0, .is_last = true});
    });
    steps_left_ -= granted - share.left;
    generation.count_drafts(static_cast<int32_t>(entry.drafts.size()), accepted);
    counts_.generated += static_cast<uint64_t>(accepted) + (is_slow ? 0 : 1);
    counts_.drafted += entry.drafts.size();
    counts_.accepted += static_cast<uint64_t>(accepted);
    if (is_slow) {
        if (std::ranges::find(slow_, entry.id) == slow_.end()) slow_.push_back(entry.id);
        return {.kind = Kind::awaits_token, .accepted = accepted};
    }
    return {.kind = is_last ? Kind::finished : Kind::advanced, .accepted = accepted, .token = token};
}

/// Requests take turns, each with the step's remaining share; an unfinished one goes to the end of the queue.
void TokenSampler::sample_slowly(const sched::StepPlan& plan, const sched::Scheduler& scheduler,
                                 ExecutedStep& step) {
    size_t steps = kGrammarStepsSlowly;
    for (size_t count = slow_.size(); count > 0 && steps > 0; --count) {
        const base::RequestId id = slow_.front();
        slow_.pop_front();
        try {
            if (!generations_.at(id)->resume(steps)) slow_.push_back(id);
            else deliver(id, plan, scheduler, step.result);
        } catch (const std::exception& error) {
            step.result.failed.push_back(id);
            step.failures.push_back({.id = id, .error = not_computed(error)});
        }
    }
}

/// If the request was preempted meanwhile, its token stays with its generation until the logits are computed again.
void TokenSampler::deliver(base::RequestId id, const sched::StepPlan& plan, const sched::Scheduler& scheduler,
                           sched::StepResult& result) {
    if (result.is_cache_lost) return;
    const auto entry = std::ranges::find(plan.batch, id, &sched::BatchEntry::id);
    Outcome* outcome = nullptr;
    if (entry != plan.batch.end()) {
        outcome = &result.outcomes[static_cast<size_t>(entry - plan.batch.begin())];
        if (outcome->kind != Kind::awaits_token) return;
    } else if (!scheduler.awaits_token(id)) return;
    const auto [token, is_last] = generations_.at(id)->take_slow_token(Clock::now());
    counts_.generated += 1;
    if (outcome == nullptr) {
        result.late_tokens.push_back({.id = id, .token = token, .is_last = is_last});
        return;
    }
    outcome->kind = is_last ? Kind::finished : Kind::advanced;
    outcome->token = token;
}

} // namespace engine
