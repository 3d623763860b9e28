// Products with weights that are quantized or floats: panels of rows are decoded into a cache-sized buffer, in which one instruction
// serves as many rows as a vector has lanes. Inputs that meet quantized weights are rounded to 8 bits once per product. No second copy
// of the weights is kept.
//
// Each product depends, bit for bit, only on its row of weights and its row of inputs: not on the other rows of inputs, their
// number, or the number of threads. Sums within a block of quantized weights are integers; blocks, and floats, are added in a fixed
// order.
#pragma once

#include "ggml-cpu-impl.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether products with these quantized weights are computed here: repacking them would only slow them down.
bool ggml_panels_hold(const struct ggml_tensor * weights);

/// The working memory of this GGML_OP_MUL_MAT or GGML_OP_MUL_MAT_ID, in bytes; 0 if it is not computed here.
size_t ggml_panels_size(const struct ggml_tensor * dst, int n_threads);

/// Computes one for which `ggml_panels_size` is above 0. Called by every thread.
void ggml_panels_mul_mat(const struct ggml_compute_params * params, struct ggml_tensor * dst);

#ifdef __cplusplus
}
#endif
