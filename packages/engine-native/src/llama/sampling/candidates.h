// Picks the tokens worth looking at straight from a vocabulary's logits. All functions go through the logits in plain
// loops that compilers turn into vector code, and build candidates for few of them. Used by Sampler.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <span>
#include <vector>

namespace llama_rt {

struct Candidate {
    base::Token token;
    float logit;
    /// Probability, not always scaled to the sum of 1.
    float p;
};

/// Scratch shared by all samplers of an engine: one token is sampled at a time. It keeps its room for the next one.
struct Candidates {
    std::vector<Candidate> list;
    /// Of keep_top(): the highest logits of groups.
    std::vector<float> highest;
    /// Of draw_from_all(): a sum for each block of the vocabulary.
    std::vector<double> sums;
    /// All logits, of which a grammar has banned some.
    std::vector<float> masked;
};

/// The token with the highest logit; the first of equals.
base::Token likeliest(std::span<const float> logits);

/// Makes `list` the `k` likeliest tokens, likeliest first. Up to 128 are exactly those that llama.cpp keeps, in its
/// order, even among equal logits; of more, equals are in the order of the vocabulary. Tokens that cannot be drawn
/// (minus infinity, not a number) may be missing.
void keep_top(std::span<const float> logits, size_t k, Candidates& candidates);

/// Makes `list` the tokens with at least this logit, in the order of the vocabulary. Never those with minus infinity.
void keep_at_least(std::span<const float> logits, float least, Candidates& candidates);

/// Likeliest first; equals in the order of the vocabulary.
void sort_by_likelihood(std::vector<Candidate>& list);

} // namespace llama_rt
