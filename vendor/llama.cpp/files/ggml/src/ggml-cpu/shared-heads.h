// Attention for a few queries whose heads share keys and values (grouped-query attention, Ainslie et al. 2023,
// arXiv 2305.13245): each key and value is dequantized once for all heads of its group, and weights and values are multiplied
// as matrices.
// Part of GGML_OP_FLASH_ATTN_EXT.

#pragma once

#include "ggml-cpu-impl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of params->wdata needed for n_threads threads; 0 if this attention is not supported.
size_t ggml_fa_shared_heads_size(const struct ggml_tensor * dst, int n_threads);

void ggml_fa_shared_heads(const struct ggml_compute_params * params, struct ggml_tensor * dst);

#ifdef __cplusplus
}
#endif
