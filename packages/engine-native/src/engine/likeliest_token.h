// Guesses the token that a model finds likeliest, and learns how often such guesses are accepted, by the model's own probability of them
// in tenths. It depends on how similar the drafting model and the other one are, and on how the other one samples. Pure.
#pragma once

#include "engine/drafter.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace engine {

struct Guess {
    Draft draft;
    /// For LikeliestToken::observe().
    size_t tenths;

    /// A token that is accepted less often is not worth drafting, and those after it even less. It is only learned from.
    bool is_likely() const { return draft.chance >= 0.4; }
};

class LikeliestToken {
public:
    Guess find(std::span<const float> logits);

    /// The text that `guesses` followed went on with `tokens`. Learns up to the first wrong guess: those after it continued a
    /// different text.
    void observe(std::span<const Guess> guesses, std::span<const base::Token> tokens);

private:
    std::array<AcceptanceRate, 11> rates_;
    std::vector<double> sums_;
};

} // namespace engine
