// Decides how many guesses a turn computes beside its decoding sequences: as many as make all of them together faster,
// and none of them noticeably slower. It weighs how likely guesses are right against what they cost here (turn_cost.h);
// so it gives up by itself where a turn is full, a text does not repeat itself, or tokens are dear.
//
// Guesses come from the texts themselves (ngram_drafter.h) or from a draft model (guesser.h). That one takes time to
// guess, so it is asked only while one reply runs, and rests for a while when replies are not faster for it. What it takes to
// read a prompt says nothing about its guesses: only where those do not pay, it makes the rest longer.
//
// Pure; the engine's thread uses it.
#pragma once

#include "engine/guesser.h"
#include "engine/ngram_drafter.h"
#include "engine/turn_cost.h"
#include "sched/drafter.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

class Speculation final : public sched::Drafter {
public:
    /// With `model`, which must outlive this, guesses are its, at most `model_tokens` a turn; else the texts' own.
    explicit Speculation(Guesser* model = nullptr, int32_t model_tokens = 0)
        : model_(model), model_tokens_(model_tokens) {}

    /// The next turn has so many decoding sequences.
    void begin_turn(int32_t decoding);

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override;

    /// A turn without prompts computed so many tokens, guesses included, and gave so many of replies.
    void observe(int32_t computed, int32_t given, double ms);

    /// A request has ended.
    void forget(base::RequestId id) { drafters_.erase(id); }

private:
    std::span<const base::Token> draft_by_model(std::span<const base::Token> tokens, int32_t most);
    void judge_model(int32_t given, double ms);
    int32_t worth(int32_t guesses, auto chance);

    Guesser* model_;
    int32_t model_tokens_;

    std::unordered_map<base::RequestId, NgramDrafter> drafters_;
    std::vector<base::Token> drafts_;
    TurnCost cost_;
    /// Of the turn that is planned: sequences, tokens with guesses, and how many of them are expected to be right.
    int32_t decoding_ = 0;
    int32_t tokens_ = 0;
    double expected_ = 0;

    /// Milliseconds that the model took to guess for this turn; 0 when it was not asked, or had yet to read.
    double model_ms_ = 0;
    /// What it took to read since its guesses were last found to pay or not to.
    double reading_ms_ = 0;
    /// Of the model's turns, with weights that fade: how many there were, the tokens they gave, and the milliseconds they
    /// took.
    double trials_ = 0;
    double trials_given_ = 0;
    double trials_ms_ = 0;
    /// Turns that the model does not guess for yet.
    int32_t rest_ = 0;
};

} // namespace engine
