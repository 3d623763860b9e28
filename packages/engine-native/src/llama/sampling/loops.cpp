#include "llama/sampling/loops.h"

#include <bit>
#include <cstdint>

// An attribute of each function here, for a build for all processors (cmake/all-processors.cmake).
#ifndef INGLE_PER_PROCESSOR
#define INGLE_PER_PROCESSOR
#endif

namespace llama_rt::loops {

namespace {

/// e^x for x <= 0, within 2 units in the last place; 0 for x below -87 and for NaN. Branch-free arithmetic that compilers
/// vectorize, unlike std::exp, which is a call for each number.
inline float exp_of_negative(float x) {
    constexpr float kLeast = -87.0F;
    constexpr float kLog2E = 1.44269504F;
    // ln 2 in two parts: the first has so few bits that its product with a small whole number is exact.
    constexpr float kLn2High = 0.693359375F;
    constexpr float kLn2Low = -2.12194440e-4F;
    // Floats of this size have no fraction bits: adding it rounds, and leaves the whole number in the lowest bits.
    constexpr float kRounder = 12582912.0F;

    const float shifted = x * kLog2E + kRounder;
    const float whole = shifted - kRounder;
    const float rest = (x - whole * kLn2High) - whole * kLn2Low;
    // The series of e^rest; |rest| is at most half of ln 2, so that the next term is below 6e-9.
    float series = 1.0F / 5040;
    series = series * rest + 1.0F / 720;
    series = series * rest + 1.0F / 120;
    series = series * rest + 1.0F / 24;
    series = series * rest + 1.0F / 6;
    series = series * rest + 0.5F;
    series = series * rest + 1.0F;
    series = series * rest + 1.0F;
    // 2^whole, built from its bits. Below kLeast they are meaningless, and the mask drops the result.
    const uint32_t exponent = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRounder) + 127;
    const float power = std::bit_cast<float>(exponent << 23);
    const uint32_t mask = x > kLeast ? 0xFFFFFFFF : 0;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(series * power) & mask);
}

} // namespace

INGLE_PER_PROCESSOR size_t blocks_not_above(const float* logits, size_t blocks, float bound) {
    for (size_t block = 0; block < blocks; ++block) {
        // No branches and no dependencies between iterations, so that compilers turn it into a few vector compares.
        uint32_t any = 0;
        for (size_t i = 0; i < kBlock; ++i) any |= logits[block * kBlock + i] > bound ? 1U : 0U;
        if (any != 0) return block;
    }
    return blocks;
}

INGLE_PER_PROCESSOR void raise_to(float* highest, const float* row, size_t count) {
    for (size_t i = 0; i < count; ++i) highest[i] = row[i] > highest[i] ? row[i] : highest[i];
}

INGLE_PER_PROCESSOR void exp_of_shifted(const float* logits, size_t count, float temperature, float offset,
                                        float* shares) {
    for (size_t i = 0; i < count; ++i) shares[i] = exp_of_negative(logits[i] / temperature - offset);
}

INGLE_PER_PROCESSOR double sum(const float* values, size_t count) {
    float lanes[kLanes] = {}; // NOLINT: std::array's functions must not be compiled here
    for (size_t i = 0; i < count; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
    }
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
}

} // namespace llama_rt::loops
