// The log probabilities of a token and of the likeliest ones, from the model's own logits: before biases, penalties, temperature,
// top-k and the like, and grammars.
#pragma once

#include "base/types.h"
#include "llama/sampling/candidates.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llama_rt {

/// Stands for minus infinity (a probability of 0) and NaN, which JSON cannot express.
inline constexpr float kLeastLogprob = -9999.0F;

struct Logprob {
    base::Token token;
    /// Natural logarithm of its probability.
    float logprob;
};

/// The token's log probability, then those of the `top` likeliest tokens, likeliest first. Overwrites `candidates`.
std::vector<Logprob> logprobs_of(std::span<const float> logits, base::Token token, int32_t top,
                                 Candidates& candidates);

} // namespace llama_rt
