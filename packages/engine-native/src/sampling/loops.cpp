#include "sampling/loops.h"

#include <bit>
#include <cstdint>

// An attribute of each function here, for a build for all processors (cmake/all-processors.cmake).
#ifndef INGLE_PER_PROCESSOR
#define INGLE_PER_PROCESSOR
#endif

namespace sampling::loops {

namespace {

/// Below this, e^x counts as 0.
constexpr float kLeastExponent = -87.0F;

/// e^x for x <= 0, within 2 units in the last place; 0 for x below -87 and for NaN. Branch-free arithmetic that compilers
/// vectorize, unlike std::exp, which is a call for each number.
inline float exp_of_negative(float x) {
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
    // 2^whole, built from its bits. Below kLeastExponent they are meaningless, and the mask drops the result.
    const uint32_t exponent = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRounder) + 127;
    const float power = std::bit_cast<float>(exponent << 23);
    const uint32_t mask = x > kLeastExponent ? 0xFFFFFFFF : 0;
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

INGLE_PER_PROCESSOR void moments_of(const float* logits, const float* shares, size_t count, float offset,
                                    float* moments) {
    for (size_t i = 0; i < count; ++i) {
        const float exponent = logits[i] - offset;
        // Minus infinity times a share of 0 would not be a number.
        moments[i] = shares[i] * (exponent > kLeastExponent ? exponent : kLeastExponent);
    }
}

INGLE_PER_PROCESSOR double sum_above(const float* logits, size_t count, float bound, size_t& found) {
    float lanes[kLanes] = {};      // NOLINT: std::array's functions must not be compiled here
    uint32_t numbers[kLanes] = {}; // NOLINT
    const size_t whole = count - count % kLanes;
    for (size_t i = 0; i < whole; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) {
            const float logit = logits[i + lane];
            lanes[lane] += logit > bound ? logit : 0.0F;
            numbers[lane] += logit > bound ? 1U : 0U;
        }
    }
    for (size_t i = whole; i < count; ++i) {
        lanes[i - whole] += logits[i] > bound ? logits[i] : 0.0F;
        numbers[i - whole] += logits[i] > bound ? 1U : 0U;
    }
    double sum = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
        sum += static_cast<double>(lanes[lane]);
        found += numbers[lane];
    }
    return sum;
}

INGLE_PER_PROCESSOR double sum_of_squares_above(const float* logits, size_t count, float bound, float mean) {
    float lanes[kLanes] = {}; // NOLINT: std::array's functions must not be compiled here
    const size_t whole = count - count % kLanes;
    for (size_t i = 0; i < whole; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) {
            const float distance = logits[i + lane] > bound ? logits[i + lane] - mean : 0.0F;
            lanes[lane] += distance * distance;
        }
    }
    for (size_t i = whole; i < count; ++i) {
        const float distance = logits[i] > bound ? logits[i] - mean : 0.0F;
        lanes[i - whole] += distance * distance;
    }
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
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

} // namespace sampling::loops
