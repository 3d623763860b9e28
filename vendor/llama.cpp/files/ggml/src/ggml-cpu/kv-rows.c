#define GGML_COMMON_IMPL_C
#include "ggml-common.h"

#include "kv-rows.h"

#include "ggml-cpu-impl.h"
#include "q3-kv.h"
#include "quants.h"
#include "simd-mappings.h"

#include <assert.h>

// Sixteen quantized values of a block: loading them, and adding them, scaled, to y.
#if defined(__AVX2__) && defined(__FMA__)

typedef __m128i sixteen;

static inline sixteen sixteen_at(const void * bytes) {
    return _mm_loadu_si128((const __m128i *) bytes);
}

static inline sixteen sixteen_low(sixteen x) {
    return _mm_and_si128(x, _mm_set1_epi8(15));
}

static inline sixteen sixteen_high(sixteen x) {
    return _mm_and_si128(_mm_srli_epi16(x, 4), _mm_set1_epi8(15));
}

static inline sixteen sixteen_of(sixteen table, sixteen indices) {
    return _mm_shuffle_epi8(table, indices);
}

static inline void sixteen_mad(float * y, sixteen x, float d) {
#    if defined(__AVX512F__)
    const __m512 values = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(x));
    _mm512_storeu_ps(y, _mm512_fmadd_ps(values, _mm512_set1_ps(d), _mm512_loadu_ps(y)));
#    else
    const __m256 low  = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x));
    const __m256 high = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(x, x)));
    _mm256_storeu_ps(y, _mm256_fmadd_ps(low, _mm256_set1_ps(d), _mm256_loadu_ps(y)));
    _mm256_storeu_ps(y + 8, _mm256_fmadd_ps(high, _mm256_set1_ps(d), _mm256_loadu_ps(y + 8)));
#    endif
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

typedef int8x16_t sixteen;

static inline sixteen sixteen_at(const void * bytes) {
    return vld1q_s8((const int8_t *) bytes);
}

static inline sixteen sixteen_low(sixteen x) {
    return vandq_s8(x, vdupq_n_s8(15));
}

static inline sixteen sixteen_high(sixteen x) {
    return vreinterpretq_s8_u8(vshrq_n_u8(vreinterpretq_u8_s8(x), 4));
}

static inline sixteen sixteen_of(sixteen table, sixteen indices) {
    return vqtbl1q_s8(table, vreinterpretq_u8_s8(indices));
}

static inline void sixteen_mad(float * y, sixteen x, float d) {
    const int16x8_t low  = vmovl_s8(vget_low_s8(x));
    const int16x8_t high = vmovl_s8(vget_high_s8(x));
    vst1q_f32(y, vfmaq_n_f32(vld1q_f32(y), vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), d));
    vst1q_f32(y + 4, vfmaq_n_f32(vld1q_f32(y + 4), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))), d));
    vst1q_f32(y + 8, vfmaq_n_f32(vld1q_f32(y + 8), vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), d));
    vst1q_f32(y + 12, vfmaq_n_f32(vld1q_f32(y + 12), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high))), d));
}

#else

typedef struct {
    int8_t at[16];
} sixteen;

static inline sixteen sixteen_at(const void * bytes) {
    sixteen x;
    memcpy(x.at, bytes, sizeof(x.at));
    return x;
}

static inline sixteen sixteen_low(sixteen x) {
    for (int i = 0; i < 16; i++) {
        x.at[i] &= 15;
    }
    return x;
}

static inline sixteen sixteen_high(sixteen x) {
    for (int i = 0; i < 16; i++) {
        x.at[i] = (int8_t) ((uint8_t) x.at[i] >> 4);
    }
    return x;
}

static inline sixteen sixteen_of(sixteen table, sixteen indices) {
    for (int i = 0; i < 16; i++) {
        indices.at[i] = table.at[indices.at[i]];
    }
    return indices;
}

static inline void sixteen_mad(float * y, sixteen x, float d) {
    for (int i = 0; i < 16; i++) {
        y[i] += d * (float) x.at[i];
    }
}

#endif

static void mad_q8_0(int n, float * y, const void * vx, float v) {
    assert(n % QK8_0 == 0);
    const block_q8_0 * x = vx;
    for (int i = 0; i < n / QK8_0; i++, y += QK8_0) {
        const float d = GGML_CPU_FP16_TO_FP32(x[i].d) * v;
        sixteen_mad(y, sixteen_at(x[i].qs), d);
        sixteen_mad(y + 16, sixteen_at(x[i].qs + 16), d);
    }
}

// A block of 32 values of 4 bits, which are indices into the table; the first 16 are in the low nibbles.
static inline void mad_nibbles(float * y, sixteen nibbles, const int8_t * table, float d) {
    const sixteen levels = sixteen_at(table);
    sixteen_mad(y, sixteen_of(levels, sixteen_low(nibbles)), d);
    sixteen_mad(y + 16, sixteen_of(levels, sixteen_high(nibbles)), d);
}

static void mad_q4_0(int n, float * y, const void * vx, float v) {
    static const int8_t even[16] = { -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7 };
    assert(n % QK4_0 == 0);
    const block_q4_0 * x = vx;
    for (int i = 0; i < n / QK4_0; i++, y += QK4_0) {
        mad_nibbles(y, sixteen_at(x[i].qs), even, GGML_CPU_FP16_TO_FP32(x[i].d) * v);
    }
}

static void mad_iq4_nl(int n, float * y, const void * vx, float v) {
    assert(n % QK4_NL == 0);
    const block_iq4_nl * x = vx;
    for (int i = 0; i < n / QK4_NL; i++, y += QK4_NL) {
        mad_nibbles(y, sixteen_at(x[i].qs), kvalues_iq4nl, GGML_CPU_FP16_TO_FP32(x[i].d) * v);
    }
}

ggml_kv_mad_t ggml_kv_mad(enum ggml_type type) {
    switch (type) {
        case GGML_TYPE_Q8_0:   return mad_q8_0;
        case GGML_TYPE_Q4_0:   return mad_q4_0;
        case GGML_TYPE_IQ4_NL: return mad_iq4_nl;
        case GGML_TYPE_Q3_KV:  return ggml_vec_mad_q3_kv;
        default:               return NULL;
    }
}
