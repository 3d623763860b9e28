#include "sampling/chain.h"

#include "sampling/cuts.h"
#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace sampling {

namespace {

/// The logit of a token that cannot be chosen.
constexpr float kBannedLogit = -std::numeric_limits<float>::infinity();
/// Above it, XTC excludes nothing: two tokens cannot both be that likely.
constexpr float kXtcThresholdMax = 0.5F;

/// The token at the share `u` (0 … 1) of the list's probabilities.
base::Token draw_from(std::vector<Candidate>& list, double u) {
    const Candidate best = *std::ranges::max_element(list, {}, &Candidate::logit);
    // With infinite logits, there are no probabilities to draw by.
    if (!std::isfinite(best.logit)) return best.token;
    double total = 0;
    for (Candidate& candidate : list) {
        candidate.p = std::exp(candidate.logit - best.logit);
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

/// The probability with which a token was drawn from a list.
float share_of(const std::vector<Candidate>& list, base::Token token) {
    float total = 0;
    float own = 0;
    for (const Candidate& candidate : list) {
        total += candidate.p;
        if (candidate.token == token) own = candidate.p;
    }
    return own / total;
}

} // namespace

Chain::Chain(Vocabulary vocabulary, const Sampling& sampling, std::span<const base::Token> prompt)
    : vocabulary_(std::move(vocabulary)),
      sampling_(sampling),
      penalties_(vocabulary_.size, sampling, prompt),
      chance_({.draws = std::mt19937(sampling.seed), .exclusions = {}, .exclusion = {}}) {
    plan(sampling);
    const auto has = [this](Step step) { return std::ranges::find(steps_, step) != steps_.end(); };
    if (has(Step::dry)) dry_.emplace(sampling.dry, prompt, vocabulary_.append_piece);
    if (has(Step::xtc)) chance_.exclusions.emplace(sampling.seed);
}

/// Sets the steps and what chooses at their end.
void Chain::plan(const Sampling& sampling) {
    constexpr std::pair<char, Step> kLetters[] = {
        {'e', Step::penalties}, {'d', Step::dry},     {'s', Step::top_n_sigma},
        {'k', Step::top_k},     {'y', Step::typical}, {'p', Step::top_p},
        {'m', Step::min_p},     {'x', Step::xtc},     {'t', Step::temperature}};
    const bool has_mirostat = sampling.mirostat.version > 0;
    // Mirostat takes the place of every sampler that cuts.
    const std::string order = has_mirostat ? "edt" : sampling.order;
    for (const char letter : order) {
        const auto* named = std::ranges::find(kLetters, letter, &std::pair<char, Step>::first);
        if (named != std::end(kLetters) && is_on(named->second)) steps_.push_back(named->second);
    }
    const bool is_cold = sampling.temperature <= 0.0F && (sampling.dynatemp_range <= 0.0F || has_mirostat);
    if (is_cold && !steps_.empty() && steps_.back() == Step::temperature) {
        // Cuts that keep the likeliest token change nothing before it is taken.
        steps_.pop_back();
        const auto keeps_likeliest = [](Step step) {
            return step == Step::top_n_sigma || step == Step::top_k || step == Step::top_p ||
                   step == Step::min_p;
        };
        while (!steps_.empty() && keeps_likeliest(steps_.back())) steps_.pop_back();
        is_greedy_ = std::ranges::all_of(
            steps_, [](Step step) { return step == Step::penalties || step == Step::dry; });
        if (!is_greedy_) steps_.push_back(Step::temperature);
    }
    if (is_greedy_) return;
    if (has_mirostat) mirostat_.emplace(sampling.mirostat);
    else if (sampling.adaptive.target >= 0.0F && order.contains('a')) adaptive_.emplace(sampling.adaptive);
}

bool Chain::is_on(Step step) const {
    const DryOptions& dry = sampling_.dry;
    switch (step) {
        case Step::penalties: return penalties_.is_on();
        case Step::dry: return dry.multiplier > 0.0F && dry.last_n > 0;
        case Step::top_n_sigma: return sampling_.top_n_sigma > 0.0F;
        case Step::top_k: return sampling_.top_k > 0;
        case Step::typical: return sampling_.typical_p < 1.0F;
        case Step::top_p: return sampling_.top_p < 1.0F;
        case Step::min_p: return sampling_.min_p > 0.0F;
        case Step::xtc:
            return sampling_.xtc_probability > 0.0F && sampling_.xtc_threshold <= kXtcThresholdMax;
        case Step::temperature: return true;
    }
    return false;
}

Chain::Choice Chain::choose(std::span<float> logits, Candidates& candidates) {
    Pool pool(logits, candidates);
    cut(pool);
    if (mirostat_) mirostat_->cut(pool);
    if (adaptive_) adaptive_->transform(pool, candidates.before);
    if (pool.is_list()) return choose_from_list(pool);
    const Choice best{.token = pool.best(), .is_possible = pool.highest() > kBannedLogit};
    if (is_greedy_) return best;
    const double u = next_random();
    if (!std::isfinite(pool.highest())) return best;
    const base::Token token =
        draw_from_all(pool.all(), pool.highest(), pool.temperature(), u, candidates.sums);
    return {.token = token, .is_possible = true};
}

Chain::Choice Chain::choose_from_list(Pool& pool) {
    const bool is_possible = std::ranges::any_of(
        pool.list(), [](const Candidate& candidate) { return candidate.logit > kBannedLogit; });
    return {.token = draw(pool.list()), .is_possible = is_possible};
}

std::optional<size_t> Chain::likeliest_needed(size_t tokens) const {
    const auto raises = [](const LogitBias& bias) { return bias.bias > 0; };
    if (mirostat_ || adaptive_ || std::ranges::any_of(sampling_.logit_bias, raises)) return std::nullopt;
    size_t lowered = sampling_.logit_bias.size();
    if (generated_ < sampling_.min_tokens) lowered += vocabulary_.ends.size();
    auto step = steps_.begin();
    if (step != steps_.end() && *step == Step::penalties) {
        if (!penalties_.only_lower()) return std::nullopt;
        lowered += penalties_.size() + tokens - 1;
        ++step;
    }
    if (is_greedy_ && step == steps_.end()) return lowered + 1;
    if (step == steps_.end() || *step != Step::top_k) return std::nullopt;
    return lowered + static_cast<size_t>(sampling_.top_k);
}

Chain::Choice Chain::choose_among_likeliest(Candidates& candidates) {
    Pool pool(candidates, static_cast<size_t>(vocabulary_.size));
    cut(pool);
    if (!is_greedy_) return choose_from_list(pool);
    pool.sort();
    const Candidate& best = pool.list().front();
    return {.token = best.token, .is_possible = best.logit > kBannedLogit};
}

base::Token Chain::choose_again(Candidates& candidates) {
    return draw(candidates.list);
}

void Chain::keep_likeliest(std::span<float> logits, size_t most, Candidates& candidates) {
    Pool pool(logits, candidates);
    cut(pool);
    keep_top(pool.all(), most, candidates);
}

void Chain::cut(Pool& pool) {
    adjust(pool);
    for (size_t step = 0; step < steps_.size(); ++step) run(step, pool);
}

/// Applies biases and bans.
void Chain::adjust(Pool& pool) {
    for (const auto& [token, bias] : sampling_.logit_bias)
        if (token >= 0 && token < vocabulary_.size) pool.add(token, bias);
    if (generated_ >= sampling_.min_tokens) return;
    for (const base::Token end : vocabulary_.ends) pool.set(end, kBannedLogit);
}

void Chain::run(size_t index, Pool& pool) {
    pool.flatten();
    switch (steps_[index]) {
        case Step::penalties: penalties_.apply(pool); break;
        case Step::dry: dry_->apply(pool); break;
        case Step::top_n_sigma: keep_top_n_sigma(pool, sampling_.top_n_sigma); break;
        case Step::top_k: keep_top_k(pool, sampling_.top_k); break;
        case Step::typical: keep_typical(pool, sampling_.typical_p); break;
        case Step::top_p: {
            const bool is_before_min_p = index + 1 < steps_.size() && steps_[index + 1] == Step::min_p;
            keep_top_p(pool, sampling_.top_p, is_before_min_p ? sampling_.min_p : 0.0F);
            break;
        }
        case Step::min_p: keep_min_p(pool, sampling_.min_p); break;
        case Step::xtc:
            if (pool.count() > 1 && excludes()) exclude_top_choices(pool, sampling_.xtc_threshold);
            break;
        case Step::temperature: pool.divide(temperature_for(pool)); break;
    }
}

float Chain::temperature_for(Pool& pool) const {
    const float range = sampling_.dynatemp_range;
    if (range <= 0.0F || mirostat_) return sampling_.temperature;
    return dynamic_temperature(pool, sampling_.temperature, range, sampling_.dynatemp_exponent);
}

/// Whether XTC excludes anything this time: decided once for each token.
bool Chain::excludes() {
    if (!chance_.exclusion)
        chance_.exclusion = std::uniform_real_distribution<float>(0.0F, 1.0F)(*chance_.exclusions);
    return *chance_.exclusion <= sampling_.xtc_probability;
}

/// Takes exactly one random number, so that later tokens do not depend on this one's candidates. Mirostat and adaptive-p take none for
/// a single candidate, as llama.cpp's do.
base::Token Chain::draw(std::vector<Candidate>& list) {
    const bool is_certain = list.size() == 1 && (mirostat_ || adaptive_);
    return draw_from(list, is_certain ? 0.0 : next_random());
}

/// Uniform in [0, 1).
double Chain::next_random() {
    return std::uniform_real_distribution<double>(0.0, 1.0)(chance_.draws);
}

void Chain::take(base::Token token) {
    generated_ += 1;
    penalties_.accept(token);
    if (dry_) dry_->accept(token);
    chance_.exclusion.reset();
}

void Chain::accept(base::Token token, const Candidates& candidates) {
    take(token);
    if (mirostat_) mirostat_->observe(share_of(candidates.list, token));
    if (adaptive_) {
        const auto before = std::ranges::find(candidates.before, token, &Candidate::token);
        if (before != candidates.before.end()) adaptive_->observe(before->p);
    }
}

} // namespace sampling
