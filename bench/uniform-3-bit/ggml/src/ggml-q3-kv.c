// The plain uniform type of 3 bits that q3_kv is measured against, as q4_0 is made: blocks of 32 values, a scale of half
// precision from the largest of them, eight levels at equal distances; 3.5 bits a value, as q3_kv. Never in the engine:
// copied over a patched llama.cpp's file of the same path (and ggml-cpu/q3-kv.c), it makes a llama-perplexity in which
// `q3_kv` is this type. Two of its blocks lie in one of q3_kv.
#define GGML_COMMON_DECL_C
#include "ggml-q3-kv.h"

#include "ggml-impl.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define HALF 32

typedef struct {
    ggml_half d;
    uint8_t   qs[HALF * 3 / 8];
} block_uniform;

static_assert(2 * sizeof(block_uniform) == sizeof(block_q3_kv), "the size is that of q3_kv");

static void encode(const float * x, block_uniform * y) {
    float most = 0.0f;
    for (int i = 0; i < HALF; i++) {
        most = fabsf(x[i]) > fabsf(most) ? x[i] : most;
    }
    const float d  = most / -4;
    const float id = d != 0.0f ? 1.0f / d : 0.0f;
    y->d = GGML_FP32_TO_FP16(d);
    memset(y->qs, 0, sizeof(y->qs));
    for (int i = 0; i < HALF; i++) {
        const int q = (int) (x[i] * id + 4.5f);
        const int level = q < 0 ? 0 : q > 7 ? 7 : q;
        for (int bit = 0; bit < 3; bit++) {
            y->qs[(3 * i + bit) / 8] |= (uint8_t) ((level >> bit & 1) << (3 * i + bit) % 8);
        }
    }
}

static void decode(const block_uniform * x, float * y) {
    const float d = GGML_FP16_TO_FP32(x->d);
    for (int i = 0; i < HALF; i += 8) {
        const uint8_t * three = x->qs + 3 * i / 8; // bytes that hold eight levels
        const uint32_t  bits  = three[0] | three[1] << 8 | three[2] << 16;
        for (int j = 0; j < 8; j++) {
            y[i + j] = ((int) (bits >> 3 * j & 7) - 4) * d;
        }
    }
}

void quantize_row_q3_kv_ref(const float * GGML_RESTRICT x, block_q3_kv * GGML_RESTRICT y, int64_t k) {
    assert(k % QK3_KV == 0);
    for (int64_t i = 0; i < k / HALF; i++) {
        encode(x + i * HALF, (block_uniform *) y + i);
    }
}

void dequantize_row_q3_kv(const block_q3_kv * GGML_RESTRICT x, float * GGML_RESTRICT y, int64_t k) {
    assert(k % QK3_KV == 0);
    for (int64_t i = 0; i < k / HALF; i++) {
        decode((const block_uniform *) x + i, y + i * HALF);
    }
}
