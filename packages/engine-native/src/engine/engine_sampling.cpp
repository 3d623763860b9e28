// The part of the engine that chooses tokens. A grammar may ask for a lot of work, and its author may be anybody: a step spends
// a counted number of steps of matching (llama/stack_set.h) on all of them together. What takes longer goes on a little in
// each step, while the other sequences are computed as if nothing was (slow_sampling.h).
#include "engine/engine.h"
#include "engine/verify.h"

#include <algorithm>
#include <exception>
#include <new>

namespace engine {

using base::Code;
using sched::Outcome;
using Kind = sched::Outcome::Kind;

namespace {

/// Of the steps that are to be had at once, what one sampling may use: nearly all need less than a hundredth of it.
constexpr size_t kGrammarStepsAlone = 250'000;

/// Sampling that needs more is left, to be begun anew as a slow one.
class ShareAtOnce final : public llama_rt::WorkShare {
public:
    explicit ShareAtOnce(size_t steps) { left = steps; }

protected:
    void used_up() override { throw llama_rt::ShareUsedUp(); }
};

} // namespace

Outcome Engine::sample(const sched::Step& step, size_t part) {
    const auto count = static_cast<uint64_t>(step.tokens.size());
    counted_.prompt_tokens += step.sample ? count - 1 : count;
    if (!step.sample) return {.kind = Kind::advanced};
    for (size_t drafts = 0; drafts <= step.drafts.size(); ++drafts) {
        if (context_->logits(part, drafts) != nullptr) continue;
        fail(step.id, Code::engine_failed);
        return {.kind = Kind::failed};
    }
    suspects_.erase(step.id);
    try {
        return choose(step, part);
    } catch (const std::bad_alloc&) {
        fail(step.id, Code::out_of_memory);
    } catch (const std::exception&) {
        // A trigger's regular expression may be too complex for the text it meets: that is this request's matter alone.
        fail(step.id, Code::engine_failed);
    }
    return {.kind = Kind::failed};
}

/// The step's next token, and before it as many of its guesses as are right.
Outcome Engine::choose(const sched::Step& step, size_t part) {
    Generation& generation = *generations_.at(step.id);
    const size_t granted = std::min(grammar_steps_left_, kGrammarStepsAlone);
    ShareAtOnce share(granted);
    bool is_slow = false;
    const auto [accepted, token, is_last] = verify(step.drafts, [&](size_t drafts) {
        const auto sampled =
            generation.sample(context_->logits(part, drafts), candidates_, share, Clock::now());
        is_slow = !sampled;
        return sampled.value_or(Generation::Sampled{.token = 0, .is_last = true});
    });
    grammar_steps_left_ -= granted - share.left;
    generation.count_drafts(static_cast<int32_t>(step.drafts.size()), accepted);
    counted_.generated_tokens += static_cast<uint64_t>(accepted) + (is_slow ? 0 : 1);
    counted_.drafted_tokens += step.drafts.size();
    counted_.accepted_tokens += static_cast<uint64_t>(accepted);
    if (is_slow) {
        if (std::ranges::find(slow_, step.id) == slow_.end()) slow_.push_back(step.id);
        return {.kind = Kind::sampling, .accepted = accepted};
    }
    return {.kind = is_last ? Kind::finished : Kind::advanced, .accepted = accepted, .token = token};
}

/// One after the other, the first of them with what the step has left. Who is not done goes to the end of the line.
void Engine::sample_slowly() {
    size_t steps = kGrammarStepsSlowly;
    for (size_t count = slow_.size(); count > 0 && steps > 0 && !slow_.empty(); --count) {
        const base::RequestId id = slow_.front();
        slow_.pop_front();
        try {
            if (!generations_.at(id)->go_on(steps)) slow_.push_back(id);
            else if (scheduler_.awaits_token(id)) take_slow_token(id);
        } catch (const std::exception& error) {
            scheduler_.cancel(id);
            const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
            fail(id, is_memory ? Code::out_of_memory : Code::engine_failed);
        }
    }
}

void Engine::take_slow_token(base::RequestId id) {
    const Clock::time_point now = Clock::now();
    Generation& generation = *generations_.at(id);
    const auto [token, is_last] = generation.take_slow_token(now);
    counted_.generated_tokens += 1;
    if (TextEvent text = generation.take_text(); !text.text.empty()) events_.emplace_back(std::move(text));
    scheduler_.sampled(id, {.kind = is_last ? Kind::finished : Kind::advanced, .token = token});
    if (!is_last) return;
    events_.emplace_back(generation.finish(now));
    forget(id);
}

} // namespace engine
