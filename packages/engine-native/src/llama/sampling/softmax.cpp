#include "llama/sampling/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace llama_rt {

namespace {

/// Tokens per sum. A draw first goes through the sums, then through the tokens of one block.
constexpr size_t kBlock = 256;
/// Parallel partial sums, so that an addition need not wait for the previous one.
constexpr size_t kLanes = 16;
static_assert(kBlock % kLanes == 0);

using Block = std::array<float, kBlock>;

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

/// Fills `shares` with e^(logit / temperature - offset), and with 0 after the last logit.
void fill_shares(std::span<const float> logits, float temperature, float offset, Block& shares) {
    for (size_t i = 0; i < logits.size(); ++i) shares[i] = exp_of_negative(logits[i] / temperature - offset);
    std::fill(shares.begin() + static_cast<std::ptrdiff_t>(logits.size()), shares.end(), 0.0F);
}

double sum_of(const Block& shares) {
    std::array<float, kLanes> lanes{};
    for (size_t i = 0; i < kBlock; i += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += shares[i + lane];
    }
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
}

std::span<const float> block_at(std::span<const float> logits, size_t first) {
    return logits.subspan(first, std::min(kBlock, logits.size() - first));
}

} // namespace

double exp_sum(std::span<const float> logits, float highest, float temperature, std::vector<double>& sums) {
    const float offset = highest / temperature;
    Block shares;
    double total = 0;
    sums.clear();
    for (size_t first = 0; first < logits.size(); first += kBlock) {
        fill_shares(block_at(logits, first), temperature, offset, shares);
        sums.push_back(sum_of(shares));
        total += sums.back();
    }
    return total;
}

base::Token draw_from_all(std::span<const float> logits, float highest, float temperature, double u,
                          std::vector<double>& sums) {
    const double target = u * exp_sum(logits, highest, temperature, sums);
    // If rounding leaves the target slightly beyond the total, the last block with any share is chosen.
    size_t chosen = 0;
    double before = 0;
    double sum = 0;
    for (size_t block = 0; block < sums.size(); ++block) {
        if (sums[block] == 0) continue;
        chosen = block;
        before = sum;
        sum += sums[block];
        if (sum >= target) break;
    }
    const size_t first = chosen * kBlock;
    Block shares;
    fill_shares(block_at(logits, first), temperature, highest / temperature, shares);
    size_t token = first;
    sum = before;
    for (size_t i = 0; i < kBlock; ++i) {
        if (shares[i] == 0) continue;
        token = first + i;
        sum += static_cast<double>(shares[i]);
        if (sum >= target) break;
    }
    return static_cast<base::Token>(token);
}

} // namespace llama_rt
