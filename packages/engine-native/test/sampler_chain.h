// llama.cpp's own chain of samplers, put together as our Sampler promises to follow it; and random logits for both.
#pragma once

#include "base/types.h"
#include "random.h"
#include "sampling/sampling.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "llama-cpp.h"

namespace test {

/// Everything off: a draw from the whole vocabulary.
inline sampling::Sampling plain() {
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
    Chain(int32_t vocabulary_size, const sampling::Sampling& sampling, std::span<const base::Token> prompt)
        : chain_(llama_sampler_chain_init({.no_perf = true})) {
        std::vector<llama_logit_bias> biases;
        for (const auto& [token, bias] : sampling.logit_bias)
            biases.push_back({.token = token, .bias = bias});
        const auto& [version, tau, eta] = sampling.mirostat;
        const uint32_t seed = sampling.seed;
        add(llama_sampler_init_logit_bias(vocabulary_size, static_cast<int32_t>(biases.size()),
                                          biases.data()));
        // llama.cpp leaves the penalties out with mirostat.
        for (const char letter : version > 0 ? std::string("edt") : sampling.order)
            if (letter != 'a' && (!is_greedy(sampling) || letter == 'e' || letter == 'd'))
                add(sampler_of(letter, vocabulary_size, sampling));
        for (const base::Token token : prompt) accept(token);
        if (is_greedy(sampling)) add(llama_sampler_init_greedy());
        else if (version == 1) add(llama_sampler_init_mirostat(vocabulary_size, seed, tau, eta, 100));
        else if (version == 2) add(llama_sampler_init_mirostat_v2(seed, tau, eta));
        else if (sampling.adaptive.target >= 0 && sampling.order.contains('a'))
            add(llama_sampler_init_adaptive_p(sampling.adaptive.target, sampling.adaptive.decay, seed));
        else add(llama_sampler_init_dist(seed));
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
    /// Of equal logits, llama.cpp's temperature 0 takes any, depending on what the samplers before have sorted; its greedy sampler takes
    /// the first.
    static bool is_greedy(const sampling::Sampling& sampling) {
        return sampling.temperature <= 0 && sampling.dynatemp_range <= 0 && sampling.typical_p >= 1 &&
               sampling.xtc_probability <= 0;
    }

    static llama_sampler* sampler_of(char letter, int32_t vocabulary_size,
                                     const sampling::Sampling& sampling) {
        const auto& [multiplier, base, allowed_length, last_n, breakers] = sampling.dry;
        const bool has_mirostat = sampling.mirostat.version > 0;
        switch (letter) {
            case 'e':
                return llama_sampler_init_penalties(vocabulary_size, sampling.repeat_last_n,
                                                    sampling.repeat_penalty, sampling.frequency_penalty,
                                                    sampling.presence_penalty);
            case 'd':
                return llama_sampler_init_dry(nullptr, multiplier, base, allowed_length, last_n, nullptr, 0);
            case 's': return llama_sampler_init_top_n_sigma(sampling.top_n_sigma);
            case 'k': return llama_sampler_init_top_k(sampling.top_k);
            case 'y': return llama_sampler_init_typical(sampling.typical_p, 0);
            case 'p': return llama_sampler_init_top_p(sampling.top_p, 0);
            case 'm': return llama_sampler_init_min_p(sampling.min_p, 0);
            case 'x':
                return llama_sampler_init_xtc(sampling.xtc_probability, sampling.xtc_threshold, 0,
                                              sampling.seed);
            default:
                return llama_sampler_init_temp_ext(sampling.temperature,
                                                   has_mirostat ? 0 : sampling.dynatemp_range,
                                                   sampling.dynatemp_exponent);
        }
    }

    void add(llama_sampler* sampler) { llama_sampler_chain_add(chain_.get(), sampler); }

    llama_sampler_ptr chain_;
    std::vector<llama_token_data> candidates_;
    llama_token_data_array array_{};
};

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

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
        if (shape == Shape::sparse && fraction > 0.1F) logit = -kInfinity;
        if (shape == Shape::flat) logit = spread;
    }
    // A vocabulary of minus infinities alone is a test of its own, and a bias may ban some.
    for (size_t i = 0; shape == Shape::sparse && i < 5; ++i) logits[i] = spread + static_cast<float>(i) / 8;
}

} // namespace test
