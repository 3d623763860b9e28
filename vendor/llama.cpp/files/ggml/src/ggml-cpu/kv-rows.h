// Reads rows of a quantized KV cache for CPU attention.

#pragma once

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

// y[i] += x[i]*v for n values at x, a multiple of the type's block.
typedef void (*ggml_kv_mad_t)(int n, float * y, const void * x, float v);

// NULL if values of this type have to be dequantized before they are added.
ggml_kv_mad_t ggml_kv_mad(enum ggml_type type);

#ifdef __cplusplus
}
#endif
