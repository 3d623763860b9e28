// Rows of a KV cache in few bits, as attention on this machine's processor reads them. Used by ops.cpp.

#pragma once

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

// y[i] += x[i]*v for n values at x, a multiple of the type's block.
typedef void (*ggml_kv_mad_t)(int n, float * y, const void * x, float v);

// NULL where values of this type have to be written out before they are added.
ggml_kv_mad_t ggml_kv_mad(enum ggml_type type);

#ifdef __cplusplus
}
#endif
