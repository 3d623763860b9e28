// q3_kv: a type for KV caches with 3.5 bits per value, for rotated and so nearly Gaussian values.
//
// A block is coded with a trellis (Marcellin and Fischer, Trellis coded quantization of memoryless and Gauss-Markov
// sources, 1990). There are 16 levels, fitted to a Gaussian, and four subsets of every fourth level. For each value one
// bit is a step through the trellis; this bit and the eight before it select the subset, and two more bits select one of the
// subset's four levels. So 3 bits choose among 16 levels, and encoding searches all paths through the trellis for the one
// closest to the block. Decoding needs no search: the subset's two bits are sums
// (modulo 2) of path bits at fixed distances, and they are computed for 32 values at once. The distances are
// Ungerboeck's for 256 states (Channel coding with multilevel/phase signals, 1982; octal 515 and 362).
//
// A block has two trellises of 32 values, each with its own state at the start, and one scale. The scale makes the
// error orthogonal to the block, so that a query sees the full component of a key in its direction.
//
// The code is in ggml-q3-kv-impl.h. ggml-q3-kv.c compiles it for any processor, for ggml itself; ggml-cpu/q3-kv.c compiles it
// for this machine's, and adds the functions for attention.

#pragma once

#include "ggml-common.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

GGML_API void quantize_row_q3_kv_ref(const float * GGML_RESTRICT x, block_q3_kv * GGML_RESTRICT y, int64_t k);
GGML_API void dequantize_row_q3_kv(const block_q3_kv * GGML_RESTRICT x, float * GGML_RESTRICT y, int64_t k);

#ifdef __cplusplus
}
#endif
