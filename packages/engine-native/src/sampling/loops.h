// The inner loops over whole vocabularies, compiled for the same processor as ggml's kernels, or, in a build for all processors, for
// several kinds of which one is chosen when the addon is loaded. They call nothing: a function that other files share must not be
// compiled for a processor that the machine does not have.
#pragma once

#include <cstddef>

namespace sampling::loops {

/// Logits that are compared at once. Most blocks have none that is high enough, and are skipped after one comparison.
inline constexpr size_t kBlock = 64;
/// Parallel partial sums, so that an addition need not wait for the previous one.
inline constexpr size_t kLanes = 16;

/// How many of the first blocks have no logit above `bound`.
size_t blocks_not_above(const float* logits, size_t blocks, float bound);

/// Sets each of `highest` to the higher one of it and `row`'s.
void raise_to(float* highest, const float* row, size_t count);

/// Sets `shares` to e^(logit / temperature - offset), for exponents up to 0; within 2 units in the last place, and 0 below e^-87 and
/// for NaN.
void exp_of_shifted(const float* logits, size_t count, float temperature, float offset, float* shares);

/// Sets `moments` to shares * (logit - offset), where exp_of_shifted() has computed the shares at temperature 1.
void moments_of(const float* logits, const float* shares, size_t count, float offset, float* moments);

/// The sum of the logits above `bound`; adds how many they are to `found`.
double sum_above(const float* logits, size_t count, float bound, size_t& found);

/// The sum of (logit - mean)² of the logits above `bound`.
double sum_of_squares_above(const float* logits, size_t count, float bound, float mean);

/// `count` is a multiple of kLanes.
double sum(const float* values, size_t count);

} // namespace sampling::loops
