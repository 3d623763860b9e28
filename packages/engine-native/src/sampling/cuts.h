// The samplers that leave tokens out, and the dynamic temperature. Each keeps what llama.cpp's sampler of that name keeps, but works on
// a whole vocabulary without making a list of it.
#pragma once

#include "sampling/pool.h"

#include <cstdint>
#include <vector>

namespace sampling {

/// Keeps the `k` likeliest tokens.
void keep_top_k(Pool& pool, int32_t k);

/// Keeps the likeliest tokens whose probabilities add up to `share`. `min_p` is what keep_min_p() will be called with next, or 0: both
/// leave out the unlikely end, and min-p finds it with less work.
void keep_top_p(Pool& pool, float share, float min_p);

/// Keeps tokens that are at least `min_p` times as likely as the likeliest one.
void keep_min_p(Pool& pool, float min_p);

/// Keeps the tokens whose information is nearest to the expected one (the entropy), until their probabilities add up to more than
/// `share`.
void keep_typical(Pool& pool, float share);

/// Keeps tokens whose logits are at most `n` standard deviations below the highest one.
void keep_top_n_sigma(Pool& pool, float n);

/// XTC: of the tokens with at least the probability `threshold`, leaves out all but the least likely one.
void exclude_top_choices(Pool& pool, float threshold);

/// The temperature between `temperature` - `range` (or 0) and `temperature` + `range`: the higher, the closer the entropy is to that of
/// equal probabilities. Any value if there is only one token.
float dynamic_temperature(Pool& pool, float temperature, float range, float exponent);

/// Sets each p to e^(logit - the highest one) and returns their sum. The list must not be empty.
float weigh(std::vector<Candidate>& list);

} // namespace sampling
