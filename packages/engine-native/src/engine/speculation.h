// Decides how many drafts a step computes beside its decoding sequences: as many as make all of them together faster and none
// of them noticeably slower. It weighs how likely drafts are accepted against what they cost here (step_cost.h). So drafting
// stops by itself when a step is full, a text does not repeat itself, or tokens are expensive.
//
// If every sequence of the last step had a likely draft, each gets equally many in this one, and the step may become as much longer as
// it pays: all of them benefit. Otherwise the drafts of some may hardly delay the others.
//
// A drafter that takes a noticeable time (a draft model) is asked only while one sequence decodes, and rests for a while if
// replies are not faster with it. The time it takes to read a prompt says nothing about its drafts: it only makes a rest longer.
//
// Pure; used by the engine's thread.
#pragma once

#include "engine/drafter.h"
#include "engine/step_cost.h"
#include "sched/step.h"

#include <array>
#include <cstddef>
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

    /// A new request, before its first draft(): what its reply will probably repeat, and whether its text may be drafted from in
    /// other requests, and theirs in it.
    void begin(base::RequestId id, std::span<const base::Token> prediction, bool shares) {
        drafter_->begin(id, prediction, shares);
    }

    /// Whether nothing would be drafted for any request.
    bool is_idle() const { return drafter_->is_idle(); }

    /// Sets the number of decoding sequences in the next step, which may have `tokens_max` tokens.
    void begin_step(int32_t decoding, int32_t tokens_max);

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override;

    /// A step without prefill computed and generated this many tokens; computed ones include drafts.
    void observe(int32_t computed, int32_t generated, double ms);

    /// A request has ended.
    void forget(base::RequestId id) { drafter_->forget(id); }

    /// Any thread: a draft in progress ends soon.
    void abort() { drafter_->abort(); }

private:
    /// Maximum number of drafts of each sequence where all have some.
    static constexpr size_t kEachMax = 8;

    /// What the sequences of a step could have had.
    struct Offers {
        /// Sequences with a likely draft.
        int32_t sequences = 0;
        /// For each draft of a sequence, the first, the second and so on: how many of all sequences should be accepted.
        std::array<double, kEachMax> accepted = {};
    };

    bool may_ask(int32_t most) const;
    void judge_drafter(int32_t generated, double ms);
    void note_offer(std::span<const Draft> drafts);
    int32_t drafts_of_each(int32_t tokens_max) const;
    size_t worth(std::span<const Draft> drafts);

    const std::unique_ptr<Drafter> drafter_;
    const int32_t drafts_max_;

    std::vector<base::Token> tokens_;
    StepCost cost_;
    /// The step being planned: its decoding sequences, its tokens including drafts, and how many of them should be accepted.
    int32_t decoding_ = 0;
    int32_t planned_ = 0;
    double expected_ = 0;
    /// The number of drafts that each of its sequences gets; 0 if each is decided alone.
    int32_t each_ = 0;
    /// Of this step, and of the last one until this one begins.
    Offers offers_;

    /// Time for drafting in this step; 0 if the drafter was not asked or only read.
    double drafting_ms_ = 0;
    /// Time for reading since the drafter was last judged.
    double reading_ms_ = 0;
    /// Steps with the drafter, with weights that fade: how many, the tokens they generated, and the milliseconds they took.
    double trials_ = 0;
    double trials_generated_ = 0;
    double trials_ms_ = 0;
    /// Number of steps before the drafter is asked again.
    int32_t rest_ = 0;
};

} // namespace engine
