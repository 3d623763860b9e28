#include "llama/sampler.h"

#include "base/result.h"
#include "llama/model.h"

#include <algorithm>
#include <cmath>

namespace llama_rt {

namespace {

bool has_penalties(const Sampling& sampling) {
    return sampling.repeat_last_n > 0 &&
           (sampling.repeat_penalty != 1.0F || sampling.presence_penalty != 0.0F ||
            sampling.frequency_penalty != 0.0F);
}

std::vector<llama_logit_bias> biases(const Model& model, const Sampling& sampling, bool ignore_eos) {
    std::vector<llama_logit_bias> biases = sampling.logit_bias;
    const int32_t size = model.info().vocabulary_size;
    std::erase_if(biases,
                  [size](const llama_logit_bias& bias) { return bias.token < 0 || bias.token >= size; });
    if (!ignore_eos) return biases;
    for (base::Token token = 0; token < size; ++token) {
        if (model.is_end_of_generation(token)) biases.push_back({.token = token, .bias = -INFINITY});
    }
    return biases;
}

base::Token likeliest(const float* logits, int32_t count) {
    return static_cast<base::Token>(std::max_element(logits, logits + count) - logits);
}

} // namespace

Sampler::Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
                 const std::vector<base::Token>& prompt)
    : vocabulary_size_(model.info().vocabulary_size) {
    const std::vector<llama_logit_bias> bias = biases(model, sampling, ignore_eos);
    const bool is_greedy = sampling.temperature <= 0.0F;
    if (is_greedy && bias.empty() && !has_penalties(sampling)) return;

    chain_.reset(llama_sampler_chain_init({.no_perf = true}));
    const auto add = [this](llama_sampler* sampler) { llama_sampler_chain_add(chain_.get(), sampler); };
    if (!bias.empty()) {
        add(llama_sampler_init_logit_bias(vocabulary_size_, static_cast<int32_t>(bias.size()), bias.data()));
    }
    if (has_penalties(sampling)) {
        add(llama_sampler_init_penalties(vocabulary_size_, sampling.repeat_last_n, sampling.repeat_penalty,
                                         sampling.frequency_penalty, sampling.presence_penalty));
        const size_t window = std::min(prompt.size(), static_cast<size_t>(sampling.repeat_last_n));
        for (size_t i = prompt.size() - window; i < prompt.size(); ++i)
            llama_sampler_accept(chain_.get(), prompt[i]);
    }
    if (is_greedy) {
        add(llama_sampler_init_greedy());
        return;
    }
    // llama.cpp's own order: cut the candidates first, then flatten or sharpen what is left.
    if (sampling.top_k > 0) add(llama_sampler_init_top_k(sampling.top_k));
    if (sampling.top_p < 1.0F) add(llama_sampler_init_top_p(sampling.top_p, 1));
    if (sampling.min_p > 0.0F) add(llama_sampler_init_min_p(sampling.min_p, 1));
    add(llama_sampler_init_temp(sampling.temperature));
    add(llama_sampler_init_dist(sampling.seed));
}

base::Token Sampler::sample(const float* logits, Candidates& candidates) {
    if (chain_ == nullptr) return likeliest(logits, vocabulary_size_);
    candidates.resize(static_cast<size_t>(vocabulary_size_));
    for (base::Token token = 0; token < vocabulary_size_; ++token) {
        candidates[static_cast<size_t>(token)] = {.id = token, .logit = logits[token], .p = 0.0F};
    }
    llama_token_data_array array{
        .data = candidates.data(), .size = candidates.size(), .selected = -1, .sorted = false};
    llama_sampler_apply(chain_.get(), &array);
    INGLE_ASSERT(array.selected >= 0 && array.selected < static_cast<int64_t>(array.size));
    const base::Token token = array.data[array.selected].id;
    llama_sampler_accept(chain_.get(), token);
    return token;
}

} // namespace llama_rt
