#include "sampling/pool.h"

#include "base/result.h"

#include <cmath>

namespace sampling {

Pool::Pool(std::span<float> logits, Candidates& scratch)
    : logits_(logits), scratch_(scratch), first_changed_(scratch.changed.size()), count_(logits.size()) {
    scratch_.list.clear();
}

Pool::Pool(Candidates& scratch, size_t vocabulary_size)
    : scratch_(scratch), first_changed_(scratch.changed.size()), is_list_(true), count_(vocabulary_size) {}

Pool::~Pool() {
    // In reverse, so that a token that was changed twice gets its first value back.
    for (size_t left = scratch_.changed.size(); left > first_changed_; --left)
        *scratch_.changed[left - 1].logit = scratch_.changed[left - 1].before;
    scratch_.changed.resize(first_changed_);
}

base::Token Pool::best() {
    if (!best_) best_ = likeliest(logits_);
    return *best_;
}

void Pool::be_list(bool is_sorted) {
    is_list_ = true;
    is_sorted_ = is_sorted;
    if (temperature_ == 1.0F) return;
    for (Candidate& candidate : list()) candidate.logit /= temperature_;
    temperature_ = 1;
}

void Pool::be_likeliest() {
    Candidate one{.token = 0, .logit = 0, .p = 1};
    if (is_list_) one = *std::ranges::max_element(list(), {}, &Candidate::logit);
    else one = {.token = best(), .logit = highest(), .p = 1};
    list().assign(1, one);
    temperature_ = 1;
    be_list(true);
}

void Pool::sort() {
    if (!is_sorted_) sort_by_likelihood(list());
    is_sorted_ = true;
}

void Pool::divide(float temperature) {
    const float top = is_list_ ? std::ranges::max_element(list(), {}, &Candidate::logit)->logit : highest();
    if (!(temperature > 0.0F) || !std::isfinite(top / temperature)) return be_likeliest();
    if (!is_list_) {
        temperature_ = temperature;
        return;
    }
    if (temperature == 1.0F) return;
    for (Candidate& candidate : list()) candidate.logit /= temperature;
}

void Pool::flatten() {
    if (is_list_ || temperature_ == 1.0F) return;
    std::vector<float>& scaled = scratch_.scaled;
    scaled.resize(logits_.size());
    for (size_t i = 0; i < logits_.size(); ++i) scaled[i] = logits_[i] / temperature_;
    logits_ = scaled;
    is_flat_ = true;
    temperature_ = 1;
}

void Pool::set(base::Token token, float logit) {
    if (float* own = find(token)) *own = logit;
}

void Pool::add(base::Token token, float bias) {
    if (float* own = find(token)) *own += bias;
}

/// The token's logit, to be changed; null if it is not in the list.
float* Pool::find(base::Token token) {
    if (!is_list_) return &changed(token);
    const auto found = std::ranges::find(list(), token, &Candidate::token);
    if (found == list().end()) return nullptr;
    is_sorted_ = false;
    return &found->logit;
}

/// The token's logit, to be changed; its value is kept for the end.
float& Pool::changed(base::Token token) {
    const auto index = static_cast<size_t>(token);
    INGLE_ASSERT(!is_list_ && index < logits_.size());
    best_.reset();
    if (!is_flat_) scratch_.changed.push_back({.logit = &logits_[index], .before = logits_[index]});
    return logits_[index];
}

} // namespace sampling
