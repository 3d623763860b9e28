// The sampling options of a request. Every default turns its sampler off.
#pragma once

#include "base/fields.h"
#include "base/types.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sampling {

/// The order of the samplers, each by llama.cpp's letter: penalties (e), DRY (d), top-n-sigma (s), top-k (k), typical-p (y), top-p
/// (p), min-p (m), XTC (x), temperature (t). Adaptive-p (a) is always last.
inline constexpr const char* kUsualOrder = "edskypmxta";

/// DRY: tokens that would continue a repetition become less likely, the longer it is.
struct DryOptions {
    /// 0: off.
    float multiplier = 0;
    float base = 1.75F;
    /// Repetitions of fewer tokens are free.
    int32_t allowed_length = 2;
    /// How many of the last tokens are searched; 0: off.
    int32_t last_n = 64;
    /// Texts that no repetition goes across.
    std::vector<std::string> breakers = {};
};

constexpr auto fields_of(const DryOptions*) {
    return base::rows(base::field("dryMultiplier", &DryOptions::multiplier, {.min = 0}),
                      base::field("dryBase", &DryOptions::base, {.min = 1}),
                      base::field("dryAllowedLength", &DryOptions::allowed_length, {.min = 0}),
                      base::field("dryPenaltyLastN", &DryOptions::last_n, {.min = 0, .max = 1 << 20}),
                      base::field("drySequenceBreakers", &DryOptions::breakers));
}

/// Mirostat holds the surprise of a text, in bits per token, near a target. It takes the place of all samplers that cut.
struct MirostatOptions {
    /// 1 or 2; 0: off.
    int32_t version = 0;
    /// The target.
    float tau = 5;
    /// How fast it corrects itself.
    float eta = 0.1F;
};

constexpr auto fields_of(const MirostatOptions*) {
    return base::rows(base::field("mirostat", &MirostatOptions::version, {.min = 0, .max = 2}),
                      base::field("mirostatTau", &MirostatOptions::tau),
                      base::field("mirostatEta", &MirostatOptions::eta));
}

/// Adaptive-p prefers tokens whose probability is near a target, which it corrects by the probabilities of the tokens before.
struct AdaptiveOptions {
    /// Below 0: off.
    float target = -1;
    float decay = 0.9F;
};

constexpr auto fields_of(const AdaptiveOptions*) {
    return base::rows(base::field("adaptiveTarget", &AdaptiveOptions::target, {.max = 1}),
                      base::field("adaptiveDecay", &AdaptiveOptions::decay, {.min = 0, .max = 0.99F}));
}

/// Added to the logit of one token.
struct LogitBias {
    base::Token token;
    float bias;
};

/// Already validated.
struct Sampling {
    /// 0: always choose the likeliest token.
    float temperature;
    /// 0: off.
    int32_t top_k;
    /// 1: off.
    float top_p;
    /// 0: off.
    float min_p;
    /// 1: off.
    float repeat_penalty;
    /// How many of the last tokens the three penalties apply to; 0: off.
    int32_t repeat_last_n;
    float presence_penalty;
    float frequency_penalty;
    uint32_t seed;
    std::vector<LogitBias> logit_bias;
    /// 1: off.
    float typical_p = 1;
    /// At most 0: off.
    float top_n_sigma = 0;
    /// 0: off.
    float xtc_probability = 0;
    /// Above 0.5: off.
    float xtc_threshold = 0.1F;
    /// How far the temperature may be from `temperature`; 0: off.
    float dynatemp_range = 0;
    float dynatemp_exponent = 1;
    DryOptions dry = {};
    MirostatOptions mirostat = {};
    AdaptiveOptions adaptive = {};
    /// Letters of kUsualOrder, each at most once. A sampler that is missing is off.
    std::string order = kUsualOrder;
    /// Until the reply has so many tokens, none that would end it is chosen.
    int32_t min_tokens = 0;
};

constexpr auto fields_of(const Sampling*) {
    constexpr base::Rule<float> kAboveZero{.min = std::numeric_limits<float>::denorm_min()};
    return base::rows(
        base::field("temperature", &Sampling::temperature), base::field("topK", &Sampling::top_k, {.min = 0}),
        base::field("topP", &Sampling::top_p), base::field("minP", &Sampling::min_p),
        base::field("repeatPenalty", &Sampling::repeat_penalty, kAboveZero),
        base::field("repeatLastN", &Sampling::repeat_last_n, {.min = 0, .max = 1 << 20}),
        base::field("presencePenalty", &Sampling::presence_penalty),
        base::field("frequencyPenalty", &Sampling::frequency_penalty), base::field("seed", &Sampling::seed),
        base::field("logitBias", &Sampling::logit_bias), base::field("typicalP", &Sampling::typical_p),
        base::field("topNSigma", &Sampling::top_n_sigma),
        base::field("xtcProbability", &Sampling::xtc_probability),
        base::field("xtcThreshold", &Sampling::xtc_threshold),
        base::field("dynatempRange", &Sampling::dynatemp_range),
        base::field("dynatempExponent", &Sampling::dynatemp_exponent), base::inlined(&Sampling::dry),
        base::inlined(&Sampling::mirostat), base::inlined(&Sampling::adaptive),
        base::field("samplers", &Sampling::order),
        base::field("minTokens", &Sampling::min_tokens, {.min = 0}));
}

} // namespace sampling
