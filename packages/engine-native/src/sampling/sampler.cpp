#include "sampling/sampler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sampling {

namespace {

/// If the grammar refuses the likeliest token, this many of the likeliest are tried before the whole vocabulary.
constexpr size_t kGreedyFirst = 64;
/// The logit of a token that the grammar forbids.
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

} // namespace

Sampler::Sampler(Vocabulary vocabulary, const Sampling& sampling, std::span<const base::Token> prompt,
                 std::shared_ptr<const grammar::Constraint> constraint)
    : vocabulary_size_(static_cast<size_t>(vocabulary.size)),
      chain_(std::move(vocabulary), sampling, prompt) {
    if (constraint != nullptr && constraint->rules != nullptr) wanted_ = std::move(constraint);
}

base::Token Sampler::sample(float* logits, Candidates& candidates, grammar::WorkShare* share) {
    const std::span<float> all(logits, vocabulary_size_);
    if (wanted_ != nullptr) return sample_under_constraint(all, candidates, share);
    const base::Token token = chain_.choose(all, candidates).token;
    chain_.accept(token, candidates);
    return token;
}

std::optional<size_t> Sampler::likeliest_needed(size_t tokens) const {
    return wanted_ == nullptr ? chain_.likeliest_needed(tokens) : std::nullopt;
}

base::Token Sampler::sample_among_likeliest(Candidates& candidates) {
    const base::Token token = chain_.choose_among_likeliest(candidates).token;
    chain_.accept(token, candidates);
    return token;
}

bool Sampler::take(base::Token token, grammar::WorkShare* share) {
    if (wanted_ != nullptr) {
        if (!constraint_) constraint_.emplace(wanted_, share);
        constraint_->share_work(share);
        if (!constraint_->allows(token)) return false;
        follow(token);
    }
    chain_.take(token);
    return true;
}

base::Token Sampler::sample_under_constraint(std::span<float> logits, Candidates& candidates,
                                             grammar::WorkShare* share) {
    if (!constraint_) constraint_.emplace(wanted_, share);
    constraint_->share_work(share);
    const Chain::Chance chance = chain_.chance();
    try {
        base::Token token = chain_.choose(logits, candidates).token;
        if (!constraint_->allows(token)) token = choose_allowed(logits, candidates);
        follow(token);
        chain_.accept(token, candidates);
        return token;
    } catch (const grammar::ShareUsedUp&) {
        chain_.set_chance(chance);
        throw;
    }
}

bool Sampler::is_allowed(const Candidate& candidate) {
    return candidate.logit > kForbidden && constraint_->allows(candidate.token);
}

/// Chooses again after the constraint refused the first choice.
base::Token Sampler::choose_allowed(std::span<float> logits, Candidates& candidates) {
    std::vector<Candidate>& list = candidates.list;
    const auto is_refused = [this](const Candidate& candidate) { return !is_allowed(candidate); };
    if (chain_.is_greedy()) {
        chain_.keep_likeliest(logits, kGreedyFirst, candidates);
        const auto best = std::ranges::find_if_not(list, is_refused);
        return best != list.end() ? best->token : choose_from_all_allowed(logits, candidates);
    }
    // Empty if the first draw was from the whole vocabulary.
    std::erase_if(list, is_refused);
    return list.empty() ? choose_from_all_allowed(logits, candidates) : chain_.choose_again(candidates);
}

base::Token Sampler::choose_from_all_allowed(std::span<const float> logits, Candidates& candidates) {
    std::vector<float>& masked = candidates.masked;
    masked.assign(logits.size(), kForbidden);
    constraint_->find_allowed(candidates.allowed);
    candidates.allowed.for_each([&](base::Token token) {
        const auto index = static_cast<size_t>(token);
        if (index < masked.size()) masked[index] = logits[index];
    });
    const auto [token, is_possible] = chain_.choose(masked, candidates);
    if (!is_possible) continuation_ = Continuation::blocked;
    return token;
}

void Sampler::follow(base::Token token) {
    if (continuation_ == Continuation::blocked) return;
    constraint_->accept(token);
    if (constraint_->is_complete()) continuation_ = Continuation::complete;
}

} // namespace sampling
