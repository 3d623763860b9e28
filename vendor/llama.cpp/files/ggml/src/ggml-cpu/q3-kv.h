// Attention's functions for q3_kv (ggml-q3-kv.h), compiled for the processor of this machine.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void quantize_row_q3_kv(const float * x, void * y, int64_t k);

// *s = the dot product of n values of type q3_kv at vx and n of type q8_0 at vy.
void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc);
void ggml_vec_dot_q3_kv_q8_0_generic(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc);

// y[i] += x[i]*v for n values at x: adds weighted values in attention.
void ggml_vec_mad_q3_kv(int n, float * y, const void * x, float v);
void ggml_vec_mad_q3_kv_generic(int n, float * y, const void * x, float v);

#ifdef __cplusplus
}
#endif
