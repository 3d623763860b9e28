#include "sampling/cuts.h"

#include "sampling/loops.h"
#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace sampling {

namespace {

/// Without a list, top-p looks at this many of the likeliest first; they are nearly always enough.
constexpr size_t kTopPFirst = 128;
/// Far more than the relative rounding error of sums over a vocabulary.
constexpr float kRounding = 0.01F;
/// Logits that are added up in single precision.
constexpr size_t kSummed = 1024;
/// Tokens with this logit cannot be chosen.
constexpr float kLowestLogit = -std::numeric_limits<float>::infinity();

/// The logit of a token whose probability is `share` of the one with the logit `highest`.
float least_logit(float highest, float share) {
    return highest + std::log(share);
}

float highest_of(const std::vector<Candidate>& list) {
    return std::ranges::max_element(list, {}, &Candidate::logit)->logit;
}

/// Without finite logits there are no probabilities to cut by. Then only the likeliest token is left: true.
bool is_settled(Pool& pool) {
    if (pool.is_list()) return pool.list().size() == 1;
    if (!std::isfinite(pool.highest())) pool.be_likeliest();
    return pool.is_list();
}

/// The standard deviation of the logits above minus infinity.
double deviation_of(std::span<const float> logits) {
    size_t finite = 0;
    double sum = 0;
    for (size_t first = 0; first < logits.size(); first += kSummed) {
        const auto some = logits.subspan(first, std::min(kSummed, logits.size() - first));
        sum += loops::sum_above(some.data(), some.size(), kLowestLogit, finite);
    }
    const auto mean = static_cast<float>(sum / static_cast<double>(finite));
    double squares = 0;
    for (size_t first = 0; first < logits.size(); first += kSummed) {
        const auto some = logits.subspan(first, std::min(kSummed, logits.size() - first));
        squares += loops::sum_of_squares_above(some.data(), some.size(), kLowestLogit, mean);
    }
    return std::sqrt(squares / static_cast<double>(finite));
}

/// Cuts the list, which must be sorted, where it reaches this share of `total`. False if all of it is less.
bool cut_top_p(std::vector<Candidate>& list, float share, float total) {
    float sum = 0.0F;
    for (size_t i = 0; i < list.size(); ++i) {
        sum += list[i].p / total;
        if (sum < share) continue;
        list.resize(i + 1);
        return true;
    }
    return false;
}

void keep_top_p_of_all(Pool& pool, float share, float min_p) {
    const std::span<const float> logits = pool.all();
    const float highest = pool.highest();
    std::vector<Candidate>& list = pool.list();
    const auto total = static_cast<float>(exp_sum(logits, highest, 1.0F, pool.scratch().sums));
    if (min_p > 0.0F) {
        keep_at_least(logits, least_logit(highest, min_p), pool.scratch());
    } else {
        keep_top(logits, kTopPFirst, pool.scratch());
        weigh(list);
        if (cut_top_p(list, share, total)) return pool.be_list(true);
        // Tokens with less than an even share of what top-p cuts off are certainly cut off.
        const float even_share = (1.0F - share) * total / static_cast<float>(logits.size());
        keep_at_least(logits, least_logit(highest, even_share) - kRounding, pool.scratch());
    }
    pool.be_list(false);
    pool.sort();
    weigh(list);
    cut_top_p(list, share, total);
}

/// The sum and the entropy of a list's probabilities. Sets each p as weigh() does.
Entropy entropy_of(std::vector<Candidate>& list) {
    const float highest = highest_of(list);
    const float total = weigh(list);
    double moment = 0;
    for (const Candidate& candidate : list) {
        if (candidate.p > 0) moment += static_cast<double>(candidate.p * (candidate.logit - highest));
    }
    const auto sum = static_cast<double>(total);
    return {.total = sum, .entropy = std::log(sum) - moment / sum};
}

/// Sorts by the distance of each token's information from the entropy.
void sort_by_typicality(std::vector<Candidate>& list, float highest, const Entropy& of) {
    const auto expected = static_cast<float>(std::log(of.total) - of.entropy);
    const auto distance = [&](const Candidate& candidate) {
        return std::abs(expected - (candidate.logit - highest));
    };
    std::ranges::sort(list, [&](const Candidate& a, const Candidate& b) {
        const float of_a = distance(a);
        const float of_b = distance(b);
        return of_a != of_b ? of_a < of_b : a.token < b.token;
    });
}

/// Cuts the list where it has more than this share of `total`. False if all of it has not.
bool cut_above(std::vector<Candidate>& list, float share, float total) {
    float sum = 0.0F;
    for (size_t i = 0; i < list.size(); ++i) {
        sum += list[i].p / total;
        if (sum <= share) continue;
        list.resize(i + 1);
        return true;
    }
    return false;
}

/// A token that is less likely than the expected one comes only after all that are likelier, as far as these are nearer to it. So the
/// tokens down to twice the distance of the likeliest one are ordered among themselves, and all further ones by their likelihood, as
/// top-p takes them.
void keep_typical_of_all(Pool& pool, float share) {
    const std::span<const float> logits = pool.all();
    const float highest = pool.highest();
    std::vector<Candidate>& list = pool.list();
    const Entropy of = exp_entropy(logits, highest);
    const auto least = static_cast<float>(2 * (std::log(of.total) - of.entropy));
    keep_at_least(logits, highest + least - kRounding, pool.scratch());
    weigh(list);
    sort_by_typicality(list, highest, of);
    if (!cut_above(list, share, static_cast<float>(of.total))) {
        keep_top_p_of_all(pool, share, 0);
        sort_by_typicality(list, highest, of);
    }
    pool.be_list(false);
}

} // namespace

float weigh(std::vector<Candidate>& list) {
    const float highest = highest_of(list);
    float sum = 0.0F;
    for (Candidate& candidate : list) {
        candidate.p = std::exp(candidate.logit - highest);
        sum += candidate.p;
    }
    return sum;
}

void keep_top_k(Pool& pool, int32_t k) {
    const auto most = static_cast<size_t>(k);
    std::vector<Candidate>& list = pool.list();
    pool.set_count(std::min(pool.count(), most));
    if (pool.is_list()) {
        pool.sort();
        list.resize(std::min(list.size(), most));
        return;
    }
    keep_top(pool.all(), most, pool.scratch());
    if (list.empty() || !std::isfinite(list.front().logit)) pool.be_likeliest();
    else pool.be_list(true);
}

void keep_top_p(Pool& pool, float share, float min_p) {
    if (is_settled(pool)) return;
    if (pool.is_list()) {
        pool.sort();
        cut_top_p(pool.list(), share, weigh(pool.list()));
    } else {
        keep_top_p_of_all(pool, share, min_p);
    }
    pool.set_count(pool.list().size());
}

void keep_min_p(Pool& pool, float min_p) {
    if (is_settled(pool)) return;
    if (pool.is_list()) {
        const float least = least_logit(highest_of(pool.list()), min_p);
        std::erase_if(pool.list(), [least](const Candidate& candidate) { return candidate.logit < least; });
    } else {
        keep_at_least(pool.all(), least_logit(pool.highest(), min_p), pool.scratch());
        pool.be_list(false);
    }
    pool.set_count(pool.list().size());
}

void keep_typical(Pool& pool, float share) {
    if (is_settled(pool)) return;
    if (pool.is_list()) {
        const Entropy of = entropy_of(pool.list());
        sort_by_typicality(pool.list(), highest_of(pool.list()), of);
        cut_above(pool.list(), share, static_cast<float>(of.total));
        pool.be_list(false);
    } else {
        keep_typical_of_all(pool, share);
    }
    pool.set_count(pool.list().size());
}

void keep_top_n_sigma(Pool& pool, float n) {
    if (is_settled(pool)) return;
    if (!pool.is_list()) {
        const auto deviation = static_cast<float>(deviation_of(pool.all()));
        keep_at_least(pool.all(), pool.highest() - n * deviation, pool.scratch());
        return pool.be_list(false);
    }
    std::vector<Candidate>& list = pool.list();
    std::vector<float> logits;
    for (const Candidate& candidate : list) logits.push_back(candidate.logit);
    const float least = highest_of(list) - n * static_cast<float>(deviation_of(logits));
    std::erase_if(list, [least](const Candidate& candidate) { return !(candidate.logit >= least); });
}

void exclude_top_choices(Pool& pool, float threshold) {
    if (is_settled(pool)) return;
    std::vector<Candidate>& list = pool.list();
    float total = 0;
    if (pool.is_list()) {
        pool.sort();
        total = weigh(list);
    } else {
        const float highest = pool.highest();
        total = static_cast<float>(exp_sum(pool.all(), highest, 1.0F, pool.scratch().sums));
        const float least = least_logit(highest, threshold * total) - kRounding;
        keep_at_least(pool.all(), least, pool.scratch());
        if (list.empty()) return; // no token is a top choice
        sort_by_likelihood(list);
        weigh(list);
    }
    const auto is_top = [&](const Candidate& candidate) {
        return candidate.p > 0 && candidate.p / total >= threshold;
    };
    const auto end = std::ranges::find_if_not(list, is_top);
    const auto last = end == list.begin() ? end : end - 1;
    pool.set_count(pool.count() - static_cast<size_t>(last - list.begin()));
    if (pool.is_list()) {
        list.erase(list.begin(), last);
        return;
    }
    for (auto choice = list.begin(); choice != last; ++choice) pool.set(choice->token, kLowestLogit);
    list.clear();
}

float dynamic_temperature(Pool& pool, float temperature, float range, float exponent) {
    const float most = temperature + range;
    if (is_settled(pool)) return 1;
    if (pool.is_list()) pool.sort();
    const Entropy of = pool.is_list() ? entropy_of(pool.list()) : exp_entropy(pool.all(), pool.highest());
    const float least = std::max(0.0F, temperature - range);
    const auto evenness = static_cast<float>(of.entropy / std::log(static_cast<double>(pool.count())));
    return least + (most - least) * std::pow(std::max(evenness, 0.0F), exponent);
}

} // namespace sampling
