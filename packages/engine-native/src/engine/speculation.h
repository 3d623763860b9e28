// Decides how many drafts a step computes beside its decoding sequences: as many as make all of them together faster and none
// of them noticeably slower. It weighs how likely drafts are accepted against what they cost here (step_cost.h). So drafting
// stops by itself when a step is full, a text does not repeat itself, or tokens are expensive.
//
// If every sequence of the last step had a likely draft, each gets equally many in this one, and the step may become as much longer as
// it pays: all of them benefit. Otherwise the drafts of some may hardly delay the others.
//
// A drafter that takes a noticeable time (a draft model, or a model's own layers for it) is asked only where the other one has no
// likely draft, for as many drafts as its time and theirs promise to pay, and rests for a while if replies are not faster with it. The
// time it takes to read a prompt says nothing about its drafts: it only makes a rest longer.
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
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

class Speculation final : public sched::DraftSource {
public:
    /// Asks for at most `drafts_max` drafts of a sequence: `quick`, which takes no noticeable time, and `slow`, which does. `slow` may be
    /// null.
    Speculation(std::unique_ptr<Drafter> quick, std::unique_ptr<Drafter> slow, int32_t drafts_max)
        : quick_(std::move(quick)), slow_(std::move(slow)), drafts_max_(drafts_max) {}

    /// See Drafter::begin().
    void begin(base::RequestId id, std::span<const base::Token> prediction,
               std::optional<std::string_view> shared_with) {
        quick_->begin(id, prediction, shared_with);
    }

    /// Whether nothing would be drafted for any request.
    bool is_idle() const { return slow_ == nullptr && quick_->is_idle(); }

    /// Sets the number of decoding sequences in the next step, which may have `tokens_max` tokens.
    void begin_step(int32_t decoding, int32_t tokens_max);

    void prepare(std::span<const sched::DecodingText> texts) override;
    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override;

    /// A step without prefill computed and generated this many tokens; computed ones include drafts.
    void observe(int32_t computed, int32_t generated, double ms);

    /// Which of a step's hidden states are wanted. None while the drafter that reads them rests.
    Follows follows() const { return slow_ == nullptr || rest_ > 1 ? Follows::nothing : slow_->follows(); }

    /// Drafter::follow() of the drafter that reads states.
    void follow(base::RequestId id, int32_t first, std::span<const base::Token> tokens,
                std::span<const float* const> states) {
        slow_->follow(id, first, tokens, states);
    }

    /// A request has ended.
    void forget(base::RequestId id) {
        quick_->forget(id);
        if (slow_ != nullptr) slow_->forget(id);
    }

    /// Any thread: a draft in progress ends soon.
    void abort() {
        if (slow_ != nullptr) slow_->abort();
    }

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

    bool may_ask(std::span<const sched::DecodingText> texts);
    int32_t depth(int32_t texts) const;
    void judge_slow(int32_t generated, double ms);
    void note_offer(std::span<const Draft> drafts);
    int32_t drafts_of_each(int32_t tokens_max) const;
    size_t worth(std::span<const Draft> drafts);

    const std::unique_ptr<Drafter> quick_;
    const std::unique_ptr<Drafter> slow_;
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

    /// Texts that `slow` drafted for in this step; 0 if it was not asked, only read, or drafted for the first time.
    int32_t asked_ = 0;
    double drafting_ms_ = 0;
    bool has_drafted_ = false;
    /// How long it takes for one draft of each text, and how likely its first drafts are accepted: moving averages.
    std::optional<double> draft_ms_;
    std::optional<double> chance_;
    /// Time for reading since it was last judged.
    double reading_ms_ = 0;
    /// Steps with it, with weights that fade: how many, the milliseconds they took, and those that their tokens would have taken in
    /// steps without it.
    double trials_ = 0;
    double trials_ms_ = 0;
    double trials_without_ms_ = 0;
    /// Number of steps before it is asked again.
    int32_t rest_ = 0;
};

} // namespace engine
