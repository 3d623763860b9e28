// How the next token is chosen, for one generation.
#pragma once

#include "base/types.h"
#include "llama/handles.h"

#include <cstdint>
#include <vector>

namespace llama_rt {

class Model;

struct Sampling {
    float temperature;
    int32_t top_k;
    float top_p;
    float min_p;
    float repeat_penalty;
    int32_t repeat_last_n;
    float presence_penalty;
    float frequency_penalty;
    uint32_t seed;
    std::vector<llama_logit_bias> logit_bias;
};

/// Scratch of n_vocab candidates, shared by all samplers of an engine: one token is sampled at a time.
using Candidates = std::vector<llama_token_data>;

class Sampler {
public:
    /// `ignore_eos` bans every token that ends a generation. The penalties look at the prompt's last tokens too.
    Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
            const std::vector<base::Token>& prompt);

    /// The next token after these logits. `candidates` is overwritten.
    base::Token sample(const float* logits, Candidates& candidates);

private:
    int32_t vocabulary_size_;
    /// Without a chain, the likeliest token is taken straight from the logits.
    llama_sampler_ptr chain_;
};

} // namespace llama_rt
