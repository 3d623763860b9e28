// Selects candidate tokens directly from a vocabulary's logits. All functions go through the logits in plain loops that
// compilers vectorize, and make candidates of only a few.
#pragma once

#include "base/types.h"
#include "grammar/token_set.h"

#include <cstddef>
#include <span>
#include <vector>

namespace sampling {

struct Candidate {
    base::Token token;
    float logit;
    /// Probability, not always normalized.
    float p;
};

/// Scratch memory, reused for every token and shared by all samplers of an engine, which sample one token at a time.
struct Candidates {
    std::vector<Candidate> list;
    /// For keep_top(): the highest logit of each group.
    std::vector<float> highest;
    /// For draw_from_all(): a sum for each block of the vocabulary.
    std::vector<double> sums;
    /// The tokens that a grammar allows.
    grammar::TokenSet allowed;
    /// All logits, with those that a grammar forbids set to minus infinity.
    std::vector<float> masked;
    /// All logits, divided by a temperature.
    std::vector<float> scaled;
    /// The list before adaptive-p, with its probabilities.
    std::vector<Candidate> before;
    /// Logits that were changed, in order.
    struct Changed {
        float* logit;
        float before;
    };
    std::vector<Changed> changed;
};

/// The token with the highest logit; the lowest id among equals.
base::Token likeliest(std::span<const float> logits);

/// Sets `list` to the `k` likeliest tokens, likeliest first. Up to 128 are exactly those that llama.cpp keeps, in its order, even
/// among equal logits; with more, equals are in the order of the vocabulary. Tokens that cannot be drawn (minus infinity, NaN)
/// may be missing.
void keep_top(std::span<const float> logits, size_t k, Candidates& candidates);

/// Sets `list` to the tokens with at least this logit, in the order of the vocabulary. Never those with minus infinity.
void keep_at_least(std::span<const float> logits, float least, Candidates& candidates);

/// Sorts the likeliest first, and equals in the order of the vocabulary.
void sort_by_likelihood(std::vector<Candidate>& list);

} // namespace sampling
