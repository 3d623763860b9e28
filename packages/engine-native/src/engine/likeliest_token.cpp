#include "engine/likeliest_token.h"

#include "sampling/candidates.h"
#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>

namespace engine {

Guess LikeliestToken::find(std::span<const float> logits) {
    const base::Token token = sampling::likeliest(logits);
    const float highest = logits[static_cast<size_t>(token)];
    const double probability =
        std::isfinite(highest) ? 1.0 / sampling::exp_sum(logits, highest, 1.0F, sums_) : 0.0;
    const auto tenths = static_cast<size_t>(probability * 10);
    return {.draft = {.token = token, .chance = rates_[tenths].mean()}, .tenths = tenths};
}

void LikeliestToken::observe(std::span<const Guess> guesses, std::span<const base::Token> tokens) {
    for (size_t i = 0; i < std::min(guesses.size(), tokens.size()); ++i) {
        const bool is_right = guesses[i].draft.token == tokens[i];
        rates_[guesses[i].tenths].observe(is_right);
        if (!is_right) return;
    }
}

} // namespace engine
