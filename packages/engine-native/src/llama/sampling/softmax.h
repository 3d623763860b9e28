// Softmax over a whole vocabulary, for sampling without top-k, top-p and min-p: sums of e^logit by blocks, and a draw from them.
#pragma once

#include "base/types.h"

#include <span>
#include <vector>

namespace llama_rt {

/// The sum of e^(logit / temperature) over all tokens, divided by the likeliest token's. `highest` is the highest logit, which
/// must be finite after the division by `temperature`. Sets `sums` to the sums of the blocks.
double exp_sum(std::span<const float> logits, float highest, float temperature, std::vector<double>& sums);

/// The token at which the cumulative probability, in the order of the vocabulary, reaches `u` (0 … 1).
base::Token draw_from_all(std::span<const float> logits, float highest, float temperature, double u,
                          std::vector<double>& sums);

} // namespace llama_rt
