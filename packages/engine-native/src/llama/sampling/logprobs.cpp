#include "llama/sampling/logprobs.h"

#include "llama/sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace llama_rt {

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

} // namespace llama_rt
