// Softmax over a whole vocabulary: sums of e^logit by blocks, a draw from them, for sampling without top-k, top-p and min-p, and log
// probabilities.
#pragma once

#include "base/types.h"
#include "sampling/candidates.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sampling {

/// The sum of e^(logit / temperature) over all tokens, divided by the likeliest token's. `highest` is the highest logit, which
/// must be finite after the division by `temperature`. Sets `sums` to the sums of the blocks.
double exp_sum(std::span<const float> logits, float highest, float temperature, std::vector<double>& sums);

/// Of the probabilities of all tokens at temperature 1.
struct Entropy {
    /// The sum of e^(logit - the highest one).
    double total;
    /// The expected information of a token, in nats.
    double entropy;
};

/// `highest` is the highest logit, which must be finite.
Entropy exp_entropy(std::span<const float> logits, float highest);

/// The token at which the cumulative probability, in the order of the vocabulary, reaches `u` (0 … 1).
base::Token draw_from_all(std::span<const float> logits, float highest, float temperature, double u,
                          std::vector<double>& sums);

/// Stands for minus infinity (a probability of 0) and NaN, which JSON cannot express.
inline constexpr float kLeastLogprob = -9999.0F;

struct Logprob {
    base::Token token;
    /// Natural logarithm of its probability.
    float logprob;
};

/// The token's log probability, then those of the `top` likeliest tokens, likeliest first: from the model's own logits, before
/// biases, penalties, temperature, top-k and the like, and grammars. Overwrites `candidates`.
std::vector<Logprob> logprobs_of(std::span<const float> logits, base::Token token, int32_t top,
                                 Candidates& candidates);

} // namespace sampling
