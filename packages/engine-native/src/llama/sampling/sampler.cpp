#include "llama/sampling/sampler.h"

#include "llama/model/model.h"
#include "llama/sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace llama_rt {

namespace {

/// Without top-k, top-p looks at this many of the likeliest first; they are nearly always enough.
constexpr size_t kTopPFirst = 128;
/// Far more than the relative rounding error of sums over a vocabulary.
constexpr float kRounding = 0.01F;
/// If the grammar refuses the likeliest token, this many of the likeliest are tried before the whole vocabulary.
constexpr size_t kGreedyFirst = 64;
/// The logit of a token that cannot be chosen.
constexpr float kBanned = -std::numeric_limits<float>::infinity();

Sampling with_bans(const Model& model, Sampling sampling, bool ignore_eos) {
    if (!ignore_eos) return sampling;
    for (const base::Token token : model.end_tokens()) {
        sampling.logit_bias.push_back({.token = token, .bias = -INFINITY});
    }
    return sampling;
}

/// Sets each p to e^(logit - highest) and returns their sum. The list must be sorted, likeliest first.
float weigh(std::vector<Candidate>& list) {
    const float highest = list.front().logit;
    float sum = 0.0F;
    for (Candidate& candidate : list) {
        candidate.p = std::exp(candidate.logit - highest);
        sum += candidate.p;
    }
    return sum;
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

/// The logit of a token that is `min_p` times as likely as the likeliest one.
float least_logit(float highest, float min_p) {
    return highest + std::log(min_p);
}

/// Cuts tokens below min-p from the list, which must be sorted; always keeps the likeliest one.
void cut_min_p(std::vector<Candidate>& list, float min_p) {
    const float least = least_logit(list.front().logit, min_p);
    const auto is_unlikely = [least](const Candidate& candidate) { return candidate.logit < least; };
    list.erase(std::find_if(list.begin() + 1, list.end(), is_unlikely), list.end());
}

/// The token at the share `u` (0 … 1) of the list's probabilities at this temperature.
base::Token draw_from(std::vector<Candidate>& list, float temperature, double u) {
    const Candidate best = *std::ranges::max_element(list, {}, &Candidate::logit);
    const float highest = best.logit / temperature;
    // With infinite logits, or a temperature close to 0, there are no probabilities to draw by.
    if (!std::isfinite(highest)) return best.token;
    double total = 0;
    for (Candidate& candidate : list) {
        candidate.p = std::exp(candidate.logit / temperature - highest);
        total += static_cast<double>(candidate.p);
    }
    const double target = u * total;
    double sum = 0;
    base::Token token = best.token;
    for (const Candidate& candidate : list) {
        if (candidate.p == 0) continue;
        token = candidate.token;
        sum += static_cast<double>(candidate.p);
        if (sum >= target) break;
    }
    return token;
}

} // namespace

Sampler::Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
                 const std::vector<base::Token>& prompt, std::shared_ptr<const Constraint> constraint)
    : Sampler(model.info().vocabulary_size, with_bans(model, sampling, ignore_eos), prompt,
              std::move(constraint)) {}

Sampler::Sampler(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt,
                 std::shared_ptr<const Constraint> constraint)
    : vocabulary_size_(vocabulary_size),
      temperature_(sampling.temperature),
      top_k_(sampling.top_k),
      top_p_(sampling.top_p),
      min_p_(std::min(sampling.min_p, 1.0F)),
      adjustments_(vocabulary_size, sampling, prompt),
      random_(sampling.seed) {
    if (constraint != nullptr && constraint->rules != nullptr) wanted_ = std::move(constraint);
}

base::Token Sampler::sample(float* logits, Candidates& candidates, WorkShare* share) {
    const std::span<float> all(logits, static_cast<size_t>(vocabulary_size_));
    if (wanted_ != nullptr) return sample_under_constraint(all, candidates, share);
    adjustments_.apply(all);
    const base::Token token = choose(all, candidates);
    adjustments_.undo(all);
    adjustments_.accept(token);
    return token;
}

base::Token Sampler::sample_under_constraint(std::span<float> logits, Candidates& candidates,
                                             WorkShare* share) {
    if (!constraint_) constraint_.emplace(wanted_, share);
    constraint_->share_work(share);
    const std::mt19937 random = random_;
    adjustments_.apply(logits);
    try {
        base::Token token = choose(logits, candidates);
        if (!constraint_->allows(token)) token = choose_allowed(logits, candidates);
        follow(token);
        adjustments_.undo(logits);
        adjustments_.accept(token);
        return token;
    } catch (const ShareUsedUp&) {
        adjustments_.undo(logits);
        random_ = random;
        throw;
    }
}

base::Token Sampler::choose(std::span<const float> logits, Candidates& candidates) {
    candidates.list.clear();
    return temperature_ > 0.0F ? draw(logits, candidates) : likeliest(logits);
}

bool Sampler::is_allowed(const Candidate& candidate) {
    return candidate.logit > kBanned && constraint_->allows(candidate.token);
}

/// Chooses again after the constraint refused the first choice.
base::Token Sampler::choose_allowed(std::span<const float> logits, Candidates& candidates) {
    std::vector<Candidate>& list = candidates.list;
    const auto is_refused = [this](const Candidate& candidate) { return !is_allowed(candidate); };
    if (temperature_ <= 0.0F) {
        keep_top(logits, kGreedyFirst, candidates);
        const auto best = std::ranges::find_if_not(list, is_refused);
        return best != list.end() ? best->token : choose_from_all_allowed(logits, candidates);
    }
    // Empty if the first draw was from the whole vocabulary.
    std::erase_if(list, is_refused);
    return list.empty() ? choose_from_all_allowed(logits, candidates)
                        : draw_from(list, temperature_, next_random());
}

base::Token Sampler::choose_from_all_allowed(std::span<const float> logits, Candidates& candidates) {
    std::vector<float>& masked = candidates.masked;
    masked.assign(logits.size(), kBanned);
    constraint_->for_each_allowed([&](base::Token token) {
        const auto index = static_cast<size_t>(token);
        if (index < masked.size()) masked[index] = logits[index];
    });
    const base::Token token = choose(masked, candidates);
    if (!(masked[static_cast<size_t>(token)] > kBanned)) continuation_ = Continuation::blocked;
    return token;
}

void Sampler::follow(base::Token token) {
    if (continuation_ == Continuation::blocked) return;
    constraint_->accept(token);
    if (constraint_->is_complete()) continuation_ = Continuation::complete;
}

/// Uniform in [0, 1).
double Sampler::next_random() {
    return std::uniform_real_distribution<double>(0.0, 1.0)(random_);
}

base::Token Sampler::draw(std::span<const float> logits, Candidates& candidates) {
    // Draw exactly one number here, so that later tokens do not depend on this one's candidates.
    const double u = next_random();
    std::vector<Candidate>& list = candidates.list;
    // llama.cpp's order: first cut the candidates, then apply the temperature.
    if (top_k_ > 0) {
        keep_top(logits, static_cast<size_t>(top_k_), candidates);
        if (list.empty() || !std::isfinite(list.front().logit)) return likeliest(logits);
        if (top_p_ < 1.0F) cut_top_p(list, top_p_, weigh(list));
        if (min_p_ > 0.0F) cut_min_p(list, min_p_);
        return draw_from(list, temperature_, u);
    }
    const base::Token best = likeliest(logits);
    const float highest = logits[static_cast<size_t>(best)];
    if (!std::isfinite(highest) || !std::isfinite(highest / temperature_)) return best;
    if (top_p_ >= 1.0F && min_p_ <= 0.0F)
        return draw_from_all(logits, highest, temperature_, u, candidates.sums);
    keep_likely(logits, highest, candidates);
    return draw_from(list, temperature_, u);
}

/// Applies top-p, min-p or both to the whole vocabulary. Both cut off the unlikely end, so their order does not matter.
void Sampler::keep_likely(std::span<const float> logits, float highest, Candidates& candidates) const {
    std::vector<Candidate>& list = candidates.list;
    if (top_p_ >= 1.0F) {
        keep_at_least(logits, least_logit(highest, min_p_), candidates);
        return;
    }
    const auto total = static_cast<float>(exp_sum(logits, highest, 1.0F, candidates.sums));
    if (min_p_ > 0.0F) {
        keep_at_least(logits, least_logit(highest, min_p_), candidates);
    } else {
        keep_top(logits, kTopPFirst, candidates);
        weigh(list);
        if (cut_top_p(list, top_p_, total)) return;
        // Tokens with less than an even share of what top-p cuts off are certainly cut off.
        const float even_share = (1.0F - top_p_) * total / static_cast<float>(logits.size());
        keep_at_least(logits, least_logit(highest, even_share) - kRounding, candidates);
    }
    sort_by_likelihood(list);
    weigh(list);
    cut_top_p(list, top_p_, total);
}

} // namespace llama_rt
