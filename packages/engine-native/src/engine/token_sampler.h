// Samples the next tokens of the sequences in a batch, and verifies their drafts.
//
// A grammar may take a lot of work, and anybody may have written it. So a step spends a bounded number of matching steps
// (grammar/stack_set.h) on the grammars of all requests together. A token that takes longer is sampled in small parts over
// several engine steps, while the other sequences continue as usual (slow_sampling.h). Engine thread only.
#pragma once

#include "engine/events.h"
#include "engine/generation.h"
#include "llama/context/context.h"
#include "sampling/candidates.h"
#include "sched/scheduler.h"
#include "sched/step.h"

#include <cstddef>
#include <cstdint>
#include <deque>

namespace engine {

class TokenSampler {
public:
    /// Matching steps per engine step for all requests together: for tokens that need few, and for those that need many. A
    /// million take about ten milliseconds, so no grammar delays another request's next token by more than about fifteen.
    static constexpr size_t kGrammarStepsAtOnce = 1'000'000;
    static constexpr size_t kGrammarStepsSlowly = 500'000;

    /// `generations` must outlive this and have every request of a batch.
    explicit TokenSampler(Generations& generations) : generations_(generations) {}

    /// Grants the matching steps of a new batch.
    void begin_batch() { steps_left_ = kGrammarStepsAtOnce; }

    /// Whether the likeliest tokens that the context selects are enough to sample an entry.
    bool do_likeliest_suffice(const sched::BatchEntry& entry, const llama::Context& context) const;

    /// Notes the log probabilities of the prompt's tokens that follow those of an entry with all logits.
    void note_prompt(const sched::BatchEntry& entry, llama::Context& context, size_t part);

    /// Samples from the logits of `part` in the context's last batch, which is this entry, or from the likeliest tokens if they
    /// suffice. Throws what llama.cpp's samplers
    /// and regular expressions throw.
    sched::Outcome sample(const sched::BatchEntry& entry, llama::Context& context, size_t part,
                          bool likeliest_suffice);

    /// Continues with tokens that take long. Adds the finished ones to `step`: as the outcome of this step's entry, or as a late
    /// token if `scheduler` still waits for it.
    void sample_slowly(const sched::StepPlan& plan, const sched::Scheduler& scheduler, ExecutedStep& step);

    bool has_slow() const { return !slow_.empty(); }

    /// A request has ended.
    void forget(base::RequestId id) { std::erase(slow_, id); }

    /// Number of tokens since the sampler was created.
    struct Counts {
        uint64_t generated = 0;
        uint64_t drafted = 0;
        uint64_t accepted = 0;
    };
    const Counts& counts() const { return counts_; }

private:
    Generation::Sampled sample_among(Generation& generation, const llama::Context::Likeliest& likeliest);
    void deliver(base::RequestId id, const sched::StepPlan& plan, const sched::Scheduler& scheduler,
                 sched::StepResult& result);

    Generations& generations_;
    sampling::Candidates candidates_;
    /// The rest of kGrammarStepsAtOnce for this batch.
    size_t steps_left_ = 0;
    /// Requests whose token takes long, in the order in which they continue.
    std::deque<base::RequestId> slow_;
    Counts counts_;
};

} // namespace engine
