#include "sampling/feedback.h"

#include "sampling/cuts.h"
#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>

namespace sampling {

namespace {

/// Mirostat 1 estimates how steeply probabilities fall from so many of the likeliest tokens.
constexpr size_t kEstimatedFrom = 100;
/// In bits: far more than the rounding error of a probability.
constexpr float kRoundingBits = 0.01F;

/// The exponent of Zipf's law that the logits of a sorted list are nearest to; 0 for a list of one.
float zipf_exponent(const std::vector<Candidate>& list, float temperature) {
    float products = 0;
    float squares = 0;
    for (size_t i = 0; i + 1 < list.size(); ++i) {
        const float fall = (list[i].logit - list[i + 1].logit) / temperature;
        if (!std::isfinite(fall)) break;
        const float rank = std::log(static_cast<float>(i + 2) / static_cast<float>(i + 1));
        products += rank * fall;
        squares += rank * rank;
    }
    return squares > 0 ? products / squares : 0;
}

// llama.cpp's constants of adaptive-p: how wide the range of likely probabilities is, the logit at its middle, and how steeply logits fall.
constexpr float kPeakWidth = 0.3F;
constexpr float kPeakLogit = 5.0F;
constexpr float kPeakSharpness = 10.0F;

} // namespace

void Mirostat::cut(Pool& pool) const {
    if (!std::isfinite(pool.highest())) pool.be_likeliest();
    else if (options_.version == 1) cut_by_count(pool);
    else cut_by_surprise(pool);
}

/// Keeps as many tokens as Zipf's law has with a surprise of at most `mu_`.
void Mirostat::cut_by_count(Pool& pool) const {
    const auto size = static_cast<float>(pool.all().size());
    keep_top(pool.all(), kEstimatedFrom, pool.scratch());
    const float exponent = zipf_exponent(pool.list(), pool.temperature());
    const float epsilon = exponent - 1;
    const float count = std::pow(epsilon * std::exp2(mu_) / (1 - std::pow(size, -epsilon)), 1 / exponent);
    // Not a number where the logits are equal: then there is nothing to estimate.
    const auto k = count >= 1 ? static_cast<size_t>(std::min(count, size)) : size_t{1};
    if (k > pool.list().size()) keep_top(pool.all(), k, pool.scratch());
    pool.list().resize(std::min(k, pool.list().size()));
    pool.be_list(true);
}

/// Keeps the tokens with a surprise of at most `mu_`, or the likeliest one.
void Mirostat::cut_by_surprise(Pool& pool) const {
    const float temperature = pool.temperature();
    const double total = exp_sum(pool.all(), pool.highest(), temperature, pool.scratch().sums);
    const auto bits = static_cast<float>(std::log2(total)) - mu_ - kRoundingBits;
    const float least = pool.highest() + temperature * bits * std::numbers::ln2_v<float>;
    keep_at_least(pool.all(), std::min(least, pool.highest()), pool.scratch());
    pool.be_list(false);
    pool.sort();
    std::vector<Candidate>& list = pool.list();
    weigh(list);
    const auto is_surprising = [&](const Candidate& candidate) {
        return -std::log2(candidate.p / static_cast<float>(total)) > mu_;
    };
    list.erase(std::find_if(list.begin() + 1, list.end(), is_surprising), list.end());
}

void Mirostat::observe(float probability) {
    // Without finite logits there are no probabilities.
    if (!(probability > 0)) return;
    mu_ -= options_.eta * (-std::log2(probability) - options_.tau);
}

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

} // namespace sampling
