// The sampling options of a request, already validated.
#pragma once

#include <cstdint>
#include <vector>

#include "llama.h"

namespace llama_rt {

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
    std::vector<llama_logit_bias> logit_bias;
};

} // namespace llama_rt
