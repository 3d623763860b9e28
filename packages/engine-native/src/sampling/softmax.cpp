#include "sampling/softmax.h"

#include "sampling/loops.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sampling {

namespace {

/// Tokens per sum. A draw first goes through the sums, then through the tokens of one block.
constexpr size_t kBlock = 256;
static_assert(kBlock % loops::kLanes == 0);

using Block = std::array<float, kBlock>;

/// Fills `shares` with e^(logit / temperature - offset), and with 0 after the last logit.
void fill_shares(std::span<const float> logits, float temperature, float offset, Block& shares) {
    loops::exp_of_shifted(logits.data(), logits.size(), temperature, offset, shares.data());
    std::fill(shares.begin() + static_cast<std::ptrdiff_t>(logits.size()), shares.end(), 0.0F);
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
        sums.push_back(loops::sum(shares.data(), kBlock));
        total += sums.back();
    }
    return total;
}

Entropy exp_entropy(std::span<const float> logits, float highest) {
    Block shares;
    Block moments;
    double total = 0;
    double moment = 0;
    for (size_t first = 0; first < logits.size(); first += kBlock) {
        const std::span<const float> block = block_at(logits, first);
        fill_shares(block, 1.0F, highest, shares);
        if (block.size() < kBlock) moments.fill(0.0F);
        loops::moments_of(block.data(), shares.data(), block.size(), highest, moments.data());
        total += loops::sum(shares.data(), kBlock);
        moment += loops::sum(moments.data(), kBlock);
    }
    return {.total = total, .entropy = std::log(total) - moment / total};
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

std::vector<Logprob> logprobs_of(std::span<const float> logits, base::Token token, int32_t top,
                                 Candidates& candidates) {
    const float highest = logits[static_cast<size_t>(likeliest(logits))];
    const double sum = std::isfinite(highest) ? exp_sum(logits, highest, 1.0F, candidates.sums) : 0;
    const auto logprob_of = [&](base::Token one) {
        const double value = static_cast<double>(logits[static_cast<size_t>(one)]) -
                             static_cast<double>(highest) - std::log(sum);
        return Logprob{.token = one,
                       .logprob = std::isfinite(value) ? std::max(static_cast<float>(value), kLeastLogprob)
                                                       : kLeastLogprob};
    };
    std::vector<Logprob> logprobs;
    logprobs.push_back(logprob_of(token));
    if (top <= 0) return logprobs;
    keep_top(logits, static_cast<size_t>(top), candidates);
    for (const Candidate& candidate : candidates.list) logprobs.push_back(logprob_of(candidate.token));
    return logprobs;
}

} // namespace sampling
