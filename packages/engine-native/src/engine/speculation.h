// Decides how many drafts a step computes beside its decoding sequences: as many as make all of them together faster and none
// of them noticeably slower. It weighs how likely drafts are accepted against what they cost here (step_cost.h). So it stops by
// itself where a step is full, a text does not repeat itself, or tokens are expensive.
//
// A drafter that takes time (a draft model) is asked only while one sequence decodes, and rests for a while when replies are
// not faster with it. What it takes to read a prompt says nothing about its drafts: it only makes a rest longer.
//
// Pure; used by the engine's thread.
#pragma once

#include "engine/drafter.h"
#include "engine/step_cost.h"
#include "sched/step.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class Speculation final : public sched::DraftSource {
public:
    /// Asks `drafter` for at most `drafts_max` drafts of a sequence.
    Speculation(std::unique_ptr<Drafter> drafter, int32_t drafts_max)
        : drafter_(std::move(drafter)), drafts_max_(drafts_max) {}

    /// The next step has so many decoding sequences.
    void begin_step(int32_t decoding);

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override;

    /// A step without prefill computed so many tokens, drafts included, and generated so many.
    void observe(int32_t computed, int32_t generated, double ms);

    /// A request has ended.
    void forget(base::RequestId id) { drafter_->forget(id); }

    /// Any thread: a draft under way ends soon.
    void abort() { drafter_->abort(); }

private:
    bool may_ask(int32_t most) const;
    void judge_drafter(int32_t generated, double ms);
    size_t worth(std::span<const Draft> drafts);

    const std::unique_ptr<Drafter> drafter_;
    const int32_t drafts_max_;

    std::vector<base::Token> tokens_;
    StepCost cost_;
    /// Of the step that is planned: decoding sequences, tokens with drafts, and how many of them are expected to be accepted.
    int32_t decoding_ = 0;
    int32_t planned_ = 0;
    double expected_ = 0;

    /// What drafting took for this step; 0 if the drafter was not asked or only read.
    double drafting_ms_ = 0;
    /// What reading took since the drafter was last judged.
    double reading_ms_ = 0;
    /// Steps with the drafter, with weights that fade: how many, the tokens they generated, and the milliseconds they took.
    double trials_ = 0;
    double trials_generated_ = 0;
    double trials_ms_ = 0;
    /// Steps before the drafter is asked again.
    int32_t rest_ = 0;
};

} // namespace engine
