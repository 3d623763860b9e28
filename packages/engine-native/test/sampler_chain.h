// llama.cpp's own chain of samplers, put together as our Sampler promises to follow it; and random logits for both.
#pragma once

#include "base/types.h"
#include "llama/sampling/sampler.h"
#include "random.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "llama-cpp.h"

namespace test {

/// Everything off: a draw from the whole vocabulary.
inline llama_rt::Sampling plain() {
    return {.temperature = 1.0F,
            .top_k = 0,
            .top_p = 1.0F,
            .min_p = 0.0F,
            .repeat_penalty = 1.0F,
            .repeat_last_n = 64,
            .presence_penalty = 0.0F,
            .frequency_penalty = 0.0F,
            .seed = 1,
            .logit_bias = {}};
}

class Chain {
public:
    Chain(int32_t vocabulary_size, const llama_rt::Sampling& sampling, std::span<const base::Token> prompt)
        : chain_(llama_sampler_chain_init({.no_perf = true})) {
        const std::vector<llama_logit_bias>& bias = sampling.logit_bias;
        add(llama_sampler_init_logit_bias(vocabulary_size, static_cast<int32_t>(bias.size()), bias.data()));
        add(llama_sampler_init_penalties(vocabulary_size, sampling.repeat_last_n, sampling.repeat_penalty,
                                         sampling.frequency_penalty, sampling.presence_penalty));
        for (const base::Token token : prompt) accept(token);
        if (sampling.temperature <= 0.0F) {
            add(llama_sampler_init_greedy());
            return;
        }
        add(llama_sampler_init_top_k(sampling.top_k));
        add(llama_sampler_init_top_p(sampling.top_p, 1));
        add(llama_sampler_init_min_p(sampling.min_p, 1));
        add(llama_sampler_init_temp(sampling.temperature));
        add(llama_sampler_init_dist(sampling.seed));
    }

    /// Does not accept the token, so that a test can go on with another one.
    base::Token sample(std::span<const float> logits) {
        candidates_.resize(logits.size());
        for (size_t i = 0; i < logits.size(); ++i)
            candidates_[i] = {.id = static_cast<base::Token>(i), .logit = logits[i], .p = 0.0F};
        array_ = {.data = candidates_.data(), .size = candidates_.size(), .selected = -1, .sorted = false};
        llama_sampler_apply(chain_.get(), &array_);
        return array_.data[array_.selected].id;
    }

    void accept(base::Token token) { llama_sampler_accept(chain_.get(), token); }

    /// What the last token was drawn from, with probabilities.
    std::span<const llama_token_data> drawn_from() const { return {array_.data, array_.size}; }

private:
    void add(llama_sampler* sampler) { llama_sampler_chain_add(chain_.get(), sampler); }

    llama_sampler_ptr chain_;
    std::vector<llama_token_data> candidates_;
    llama_token_data_array array_{};
};

enum class Shape {
    /// Normally distributed around 0.
    smooth,
    /// The same in steps of 0.5: nearly every logit is another token's too.
    stepped,
    /// The same, with minus infinity in nine of ten places.
    sparse,
    /// One number for all.
    flat,
};

/// Fills `logits`. `spread` is the standard deviation.
inline void fill_logits(Random& random, Shape shape, float spread, std::span<float> logits) {
    for (float& logit : logits) {
        // Eight bytes of one number, summed up, are near enough to a normal distribution; the rest breaks ties.
        const uint64_t bits = random.below(std::numeric_limits<uint64_t>::max());
        float sum = 0;
        for (int byte = 0; byte < 8; ++byte) sum += static_cast<float>((bits >> (8 * byte)) & 0xFF);
        const float fraction = static_cast<float>(random.below(1U << 20)) / (1U << 20);
        logit = spread * (sum + fraction - 1020) / 209;
        if (shape == Shape::stepped) logit = std::round(2 * logit) / 2;
        if (shape == Shape::sparse && fraction > 0.1F) logit = -std::numeric_limits<float>::infinity();
        if (shape == Shape::flat) logit = spread;
    }
    // A vocabulary of minus infinities alone is a test of its own, and a bias may ban some.
    for (size_t i = 0; shape == Shape::sparse && i < 5; ++i) logits[i] = spread + static_cast<float>(i) / 8;
}

} // namespace test
