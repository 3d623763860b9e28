// How likely the model held a token, and which others it held likeliest: from the logits as the model gave them, before
// biases, penalties, temperature, cuts and grammars. Used by engine's Generation where a request asks for it.
#pragma once

#include "base/types.h"
#include "llama/sampling/candidates.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llama_rt {

/// Stands for probabilities of 0 and for what is no number: JSON has neither.
inline constexpr float kLeastLogprob = -9999.0F;

struct Logprob {
    base::Token token;
    /// Natural logarithm of its probability.
    float logprob;
};

/// The token's own, then those of the `top` likeliest tokens, likeliest first. `candidates` is overwritten.
std::vector<Logprob> logprobs_of(std::span<const float> logits, base::Token token, int32_t top,
                                 Candidates& candidates);

} // namespace llama_rt
