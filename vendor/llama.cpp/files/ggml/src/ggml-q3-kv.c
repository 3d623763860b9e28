#define GGML_COMMON_DECL_C
#include "ggml-q3-kv-impl.h"

#include "ggml-impl.h"
#include "ggml-q3-kv.h"

#include <assert.h>

void quantize_row_q3_kv_ref(const float * GGML_RESTRICT x, block_q3_kv * GGML_RESTRICT y, int64_t k) {
    assert(k % QK3_KV == 0);
    q3_kv_trellis trellis;
    q3_kv_trellis_init(&trellis);
    for (int64_t i = 0; i < k / QK3_KV; i++) {
        const float d = q3_kv_encode(&trellis, x + i * QK3_KV, &y[i]);
        y[i].d = GGML_FP32_TO_FP16(d);
    }
}

void dequantize_row_q3_kv(const block_q3_kv * GGML_RESTRICT x, float * GGML_RESTRICT y, int64_t k) {
    assert(k % QK3_KV == 0);
    for (int64_t i = 0; i < k / QK3_KV; i++) {
        const float d = GGML_FP16_TO_FP32(x[i].d);
        int8_t levels[QK3_KV];
        q3_kv_levels_of(&x[i], levels);
        for (int j = 0; j < QK3_KV; j++) {
            y[i * QK3_KV + j] = d * levels[j];
        }
    }
}
