// Reads rows of a quantized KV cache for CPU attention.

#pragma once

#include "ggml.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// y[i] += x[i]*v for n values at x, a multiple of the type's block.
typedef void (*ggml_kv_mad_t)(int n, float * y, const void * x, float v);

// NULL if values of this type have to be dequantized before they are added.
ggml_kv_mad_t ggml_kv_mad(enum ggml_type type);

// The first unmasked cell in [ic, ic_end), or ic_end; checks 16 cells at a time.
static inline int64_t ggml_fa_skip_masked(const ggml_fp16_t * mp, int64_t ic, int64_t ic_end) {
    const uint64_t hidden = 0xFC00FC00FC00FC00; // four times -INFINITY
    for (uint64_t m[4]; ic + 16 <= ic_end; ic += 16) {
        memcpy(m, mp + ic, sizeof(m));
        if (((m[0] ^ hidden) | (m[1] ^ hidden) | (m[2] ^ hidden) | (m[3] ^ hidden)) != 0) {
            break;
        }
    }
    while (ic < ic_end && mp[ic] == 0xFC00) {
        ++ic;
    }
    return ic;
}

#ifdef __cplusplus
}
#endif
