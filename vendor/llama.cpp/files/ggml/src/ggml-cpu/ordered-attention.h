// Attention of GGML_OP_FLASH_ATTN_EXT whose result for a query depends on its visible keys and values in their order alone, not
// on the other queries, on where the cells lie, or on the number of threads. With grouped-query attention (Ainslie et al. 2023,
// arXiv 2305.13245), a key or value is decoded once for all heads of its group.
//
// dst->src[5], if there is one, has the cells in their order (src/llama-ordered-cells.h). Otherwise, cells are taken as they lie.

#pragma once

#include "ggml-cpu-impl.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of params->wdata needed for n_threads threads; 0 if this attention is not supported.
size_t ggml_ordered_attention_size(const struct ggml_tensor * dst, int n_threads);

void ggml_ordered_attention(const struct ggml_compute_params * params, struct ggml_tensor * dst);

#ifdef __cplusplus
}
#endif
