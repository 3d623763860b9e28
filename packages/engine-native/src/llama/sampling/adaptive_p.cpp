#include "llama/sampling/adaptive_p.h"

#include "llama/sampling/cuts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace llama_rt {

namespace {

// llama.cpp's constants: how wide the range of likely probabilities is, the logit at its middle, and how steeply logits fall.
constexpr float kPeakWidth = 0.3F;
constexpr float kPeakLogit = 5.0F;
constexpr float kPeakSharpness = 10.0F;

} // namespace

AdaptiveP::AdaptiveP(const AdaptiveOptions& options)
    : options_(options),
      weighted_sum_(options.target / (1 - options.decay)),
      total_weight_(1 / (1 - options.decay)) {}

void AdaptiveP::transform(Pool& pool, std::vector<Candidate>& before) const {
    std::vector<Candidate>& list = pool.list();
    if (!pool.is_list()) {
        keep_at_least(pool.all(), std::numeric_limits<float>::lowest(), pool.scratch());
        if (list.empty()) pool.be_likeliest();
        else pool.be_list(false);
    }
    const auto is_finite = [](const Candidate& candidate) { return std::isfinite(candidate.logit); };
    if (std::ranges::none_of(list, is_finite)) pool.be_likeliest();
    else std::erase_if(list, std::not_fn(is_finite));
    const float total = weigh(list);
    for (Candidate& candidate : list) candidate.p /= total;
    before = list;
    const float target = std::clamp(2 * options_.target - weighted_sum_ / total_weight_, 0.0F, 1.0F);
    for (Candidate& candidate : list) {
        const float distance = std::abs(candidate.p - target) / kPeakWidth;
        candidate.logit = kPeakLogit - kPeakSharpness * distance * distance / (1 + distance);
    }
    pool.be_list(false);
}

void AdaptiveP::observe(float probability) {
    weighted_sum_ = probability + options_.decay * weighted_sum_;
    total_weight_ = 1 + options_.decay * total_weight_;
}

} // namespace llama_rt
