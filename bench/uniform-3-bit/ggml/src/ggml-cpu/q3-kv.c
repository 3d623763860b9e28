// The functions of q3_kv for the uniform type of ../ggml-q3-kv.c, without any haste.
#define GGML_COMMON_DECL_C
#include "q3-kv.h"

#include "ggml-impl.h"
#include "ggml-q3-kv.h"

#include <assert.h>

void quantize_row_q3_kv(const float * x, void * y, int64_t k) {
    quantize_row_q3_kv_ref(x, y, k);
}

void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    assert(n % QK3_KV == 0 && nrc == 1);
    GGML_UNUSED(bs);
    GGML_UNUSED(bx);
    GGML_UNUSED(by);
    GGML_UNUSED(nrc);
    const block_q8_0 * y = vy;

    float sum = 0.0f;
    for (int i = 0; i < n / QK3_KV; i++) {
        float values[QK3_KV];
        dequantize_row_q3_kv((const block_q3_kv *) vx + i, values, QK3_KV);
        for (int j = 0; j < QK3_KV; j++) {
            const block_q8_0 * half = &y[2 * i + j / QK8_0];
            sum += values[j] * half->qs[j % QK8_0] * GGML_FP16_TO_FP32(half->d);
        }
    }
    *s = sum;
}

void ggml_vec_mad_q3_kv(int n, float * y, const void * vx, float v) {
    assert(n % QK3_KV == 0);
    for (int i = 0; i < n / QK3_KV; i++) {
        float values[QK3_KV];
        dequantize_row_q3_kv((const block_q3_kv *) vx + i, values, QK3_KV);
        for (int j = 0; j < QK3_KV; j++) {
            y[i * QK3_KV + j] += v * values[j];
        }
    }
}
