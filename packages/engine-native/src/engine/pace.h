// How many prompt tokens a turn may compute beside running replies, so that these keep their rhythm: learned from how
// long turns take on this machine with this model. Pure arithmetic; the engine's thread measures.
#pragma once

#include <cstdint>

namespace engine {

class Pace {
public:
    /// `budget_max` tokens fit a turn at all.
    explicit Pace(int32_t budget_max) : budget_max_(budget_max) {}

    /// A turn took `ms`: it computed `decoding` tokens of replies and `prompt` tokens of prompts.
    void observe(int32_t decoding, int32_t prompt, double ms);

    /// Prompt tokens of the next turn, when `decoding` replies are running and `waiting` requests have yet to see their
    /// first token. `between_ms` is what something else takes between two turns, a piece of an image's encoding.
    int32_t budget_busy(int32_t decoding, int32_t waiting, double between_ms = 0) const;

    /// How long a turn takes that computes nothing but replies, on average; 0 while nothing is known.
    double decoding_turn_ms() const { return decoding_turn_ms_; }

private:
    const int32_t budget_max_;
    /// Moving averages; 0 while nothing is known.
    double decoding_turn_ms_ = 0;
    double prompt_token_ms_ = 0;
};

} // namespace engine
