// Decides how many guesses a turn computes beside its decoding sequences: as many as make all of them together faster,
// and none of them noticeably slower. It weighs how likely guesses are right (ngram_drafter.h) against what they cost
// here (turn_cost.h); so it gives up by itself where a turn is full, a text does not repeat itself, or tokens are dear.
// Pure; the engine's thread uses it.
#pragma once

#include "engine/ngram_drafter.h"
#include "engine/turn_cost.h"
#include "sched/drafter.h"

#include <cstdint>
#include <span>
#include <unordered_map>

namespace engine {

class Speculation final : public sched::Drafter {
public:
    /// The next turn has so many decoding sequences.
    void begin_turn(int32_t decoding);

    std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                       int32_t most) override;

    /// A turn without prompts computed so many tokens, guesses included.
    void observe(int32_t tokens, double ms) { cost_.observe(tokens, ms); }

    /// A request has ended.
    void forget(base::RequestId id) { drafters_.erase(id); }

private:
    int32_t worth(const NgramDrafter& drafter, int32_t most);

    std::unordered_map<base::RequestId, NgramDrafter> drafters_;
    TurnCost cost_;
    /// Of the turn that is planned: sequences, tokens with guesses, and how many of them are expected to be right.
    int32_t decoding_ = 0;
    int32_t tokens_ = 0;
    double expected_ = 0;
};

} // namespace engine
