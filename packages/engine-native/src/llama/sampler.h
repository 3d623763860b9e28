// How the next token is chosen, for one generation: llama.cpp's own chain (biases, penalties, top-k, top-p, min-p,
// temperature, draw) with the same results, but without a list of the whole vocabulary for each token. Where that
// leaves a choice, the arithmetic is llama.cpp's, operation by operation, so that a seed gives the same tokens.
#pragma once

#include "base/types.h"
#include "llama/adjustments.h"
#include "llama/candidates.h"
#include "llama/sampling.h"

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace llama_rt {

class Model;

class Sampler {
public:
    /// `ignore_eos` bans every token that ends a generation. The penalties look at the prompt's last tokens too.
    Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
            const std::vector<base::Token>& prompt);
    Sampler(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt);

    /// The next token after these logits, which are changed meanwhile, and as they were on return. `candidates` is
    /// overwritten. Logits that are not a number are never chosen while there is another.
    base::Token sample(float* logits, Candidates& candidates);

private:
    base::Token draw(std::span<const float> logits, Candidates& candidates);
    void keep_likely(std::span<const float> logits, float highest, Candidates& candidates) const;

    int32_t vocabulary_size_;
    float temperature_;
    int32_t top_k_;
    float top_p_;
    float min_p_;
    Adjustments adjustments_;
    std::mt19937 random_;
};

} // namespace llama_rt
