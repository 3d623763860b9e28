// Softmax over a whole vocabulary, where no cut has left a few candidates: sums of e^logit by blocks, and a draw from
// them. Used by Sampler.
#pragma once

#include "base/types.h"

#include <span>
#include <vector>

namespace llama_rt {

/// The sum of e^(logit / temperature) over all tokens, as a multiple of the likeliest one's. `highest` is the highest
/// logit, and must be finite after the division. `sums` receives the share of each block.
double exp_sum(std::span<const float> logits, float highest, float temperature, std::vector<double>& sums);

/// The token at the share `u` (0 … 1) of the total, going through the vocabulary in its order.
base::Token draw_from_all(std::span<const float> logits, float highest, float temperature, double u,
                          std::vector<double>& sums);

} // namespace llama_rt
