// Which guesses of a step were right. Used by the engine, and by tests with a model of their own.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

struct Verified {
    /// Guesses that were right, one after the other from the first.
    int32_t accepted;
    /// What was sampled after them.
    base::Token token;
    /// The generation ends with it.
    bool is_last;
};

/// Samples a token after the step's own ones and one after each guess, as long as the guesses are what was sampled.
/// `sample(i)` takes the logits after the first `i` guesses and gives {token, is_last}. Each token is drawn from logits
/// of the true text, in order and once, so that nothing about the text, not even what a seed gives, depends on the
/// guesses.
Verified verify(std::span<const base::Token> guesses, auto sample) {
    for (size_t right = 0;; ++right) {
        const auto [token, is_last] = sample(right);
        if (!is_last && right < guesses.size() && token == guesses[right]) continue;
        return {.accepted = static_cast<int32_t>(right), .token = token, .is_last = is_last};
    }
}

} // namespace engine
