#define GGML_COMMON_DECL_C
#include "q3-kv.h"

#include "ggml-cpu-impl.h"
#include "ggml-impl.h"
#include "ggml-q3-kv-impl.h"
#include "simd-mappings.h"

#include <assert.h>

void quantize_row_q3_kv(const float * x, void * vy, int64_t k) {
    assert(k % QK3_KV == 0);
    block_q3_kv * y = vy;

    q3_kv_trellis trellis;
    q3_kv_trellis_init(&trellis);
    for (int64_t i = 0; i < k / QK3_KV; i++) {
        const float d = q3_kv_encode(&trellis, x + i * QK3_KV, &y[i]);
        y[i].d = GGML_CPU_FP32_TO_FP16(d);
    }
}

void ggml_vec_dot_q3_kv_q8_0_generic(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    assert(n % QK3_KV == 0 && nrc == 1);
    GGML_UNUSED(bs);
    GGML_UNUSED(bx);
    GGML_UNUSED(by);
    GGML_UNUSED(nrc);
    const block_q3_kv * x = vx;
    const block_q8_0 *  y = vy;

    float sum = 0;
    for (int i = 0; i < n / QK3_KV; i++) {
        int8_t levels[QK3_KV];
        q3_kv_levels_of(&x[i], levels);
        for (int half = 0; half < 2; half++) {
            const block_q8_0 * yh = &y[2 * i + half];

            int part = 0;
            for (int j = 0; j < Q3_KV_HALF; j++) {
                part += levels[half * Q3_KV_HALF + j] * yh->qs[j];
            }
            sum += part * (GGML_CPU_FP16_TO_FP32(x[i].d) * GGML_CPU_FP16_TO_FP32(yh->d));
        }
    }
    *s = sum;
}

void ggml_vec_mad_q3_kv_generic(int n, float * y, const void * vx, float v) {
    assert(n % QK3_KV == 0);
    const block_q3_kv * x = vx;

    for (int i = 0; i < n / QK3_KV; i++) {
        const float d = GGML_CPU_FP16_TO_FP32(x[i].d) * v;
        int8_t levels[QK3_KV];
        q3_kv_levels_of(&x[i], levels);
        for (int j = 0; j < QK3_KV; j++) {
            y[i * QK3_KV + j] += d * levels[j];
        }
    }
}

#if defined(__AVX512F__) && defined(__AVX512BW__)

// The index of each value's level. The bit planes serve as masks without conversion.
static inline __m512i q3_kv_indices(const block_q3_kv * block, __mmask64 * positive) {
    const uint64_t path0 = q3_kv_path(block, 0);
    const uint64_t path1 = q3_kv_path(block, 1);

    uint64_t level1, level0;
    memcpy(&level1, block->level1, sizeof(level1));
    memcpy(&level0, block->level0, sizeof(level0));
    const __mmask64 bit1 = q3_kv_subset_bit1(path0) | (uint64_t) q3_kv_subset_bit1(path1) << 32;
    const __mmask64 bit0 = q3_kv_subset_bit0(path0) | (uint64_t) q3_kv_subset_bit0(path1) << 32;

    __m512i high = _mm512_maskz_mov_epi8(level1, _mm512_set1_epi8(8));
    __m512i low  = _mm512_maskz_mov_epi8(bit1, _mm512_set1_epi8(2));
    high = _mm512_mask_add_epi8(high, level0, high, _mm512_set1_epi8(4));
    low  = _mm512_mask_add_epi8(low, bit0, low, _mm512_set1_epi8(1));
    *positive = level1; // the upper eight levels
    return _mm512_or_si512(high, low);
}

void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    assert(n % QK3_KV == 0 && nrc == 1);
    GGML_UNUSED(bs);
    GGML_UNUSED(bx);
    GGML_UNUSED(by);
    GGML_UNUSED(nrc);
    const block_q3_kv * x = vx;
    const block_q8_0 *  y = vy;

    // The first factor must be unsigned, so the levels' signs are applied to y.
    const __m512i sizes = _mm512_broadcast_i32x4(_mm_abs_epi8(_mm_loadu_si128((const __m128i *) q3_kv_levels)));

    __m512 sum = _mm512_setzero_ps();
    for (int i = 0; i < n / QK3_KV; i++) {
        __mmask64     positive;
        const __m512i level = _mm512_shuffle_epi8(sizes, q3_kv_indices(&x[i], &positive));

        const __m256i y0 = _mm256_loadu_si256((const __m256i *) y[2 * i].qs);
        const __m256i y1 = _mm256_loadu_si256((const __m256i *) y[2 * i + 1].qs);
        const __m512i yq = _mm512_inserti64x4(_mm512_castsi256_si512(y0), y1, 1);
        const __m512i ys = _mm512_mask_sub_epi8(yq, ~positive, _mm512_setzero_si512(), yq);
#    if defined(__AVX512VNNI__)
        const __m512i part = _mm512_dpbusd_epi32(_mm512_setzero_si512(), level, ys);
#    else
        const __m512i part = _mm512_madd_epi16(_mm512_maddubs_epi16(level, ys), _mm512_set1_epi16(1));
#    endif
        const float  d  = GGML_CPU_FP16_TO_FP32(x[i].d);
        const __m512 d0 = _mm512_set1_ps(d * GGML_CPU_FP16_TO_FP32(y[2 * i].d));
        const __m512 d1 = _mm512_set1_ps(d * GGML_CPU_FP16_TO_FP32(y[2 * i + 1].d));
        sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(part), _mm512_mask_blend_ps(0xFF00, d0, d1), sum);
    }
    *s = _mm512_reduce_add_ps(sum);
}

void ggml_vec_mad_q3_kv(int n, float * y, const void * vx, float v) {
    assert(n % QK3_KV == 0);
    const block_q3_kv * x = vx;

    const __m512 levels = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *) q3_kv_levels)));
    for (int i = 0; i < n / QK3_KV; i++, y += QK3_KV) {
        __mmask64     positive;
        const __m512i indices = q3_kv_indices(&x[i], &positive);
        const __m512  scaled  = _mm512_mul_ps(levels, _mm512_set1_ps(GGML_CPU_FP16_TO_FP32(x[i].d) * v));

        const __m512i i0 = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(indices));
        const __m512i i1 = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 1));
        const __m512i i2 = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 2));
        const __m512i i3 = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(indices, 3));
        _mm512_storeu_ps(y, _mm512_add_ps(_mm512_loadu_ps(y), _mm512_permutexvar_ps(i0, scaled)));
        _mm512_storeu_ps(y + 16, _mm512_add_ps(_mm512_loadu_ps(y + 16), _mm512_permutexvar_ps(i1, scaled)));
        _mm512_storeu_ps(y + 32, _mm512_add_ps(_mm512_loadu_ps(y + 32), _mm512_permutexvar_ps(i2, scaled)));
        _mm512_storeu_ps(y + 48, _mm512_add_ps(_mm512_loadu_ps(y + 48), _mm512_permutexvar_ps(i3, scaled)));
    }
}

#elif defined(__AVX2__) && defined(__FMA__)

// Expands each bit to a byte: 0xFF if it is set, else 0.
static inline __m256i q3_kv_spread(uint32_t bits) {
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101LL, 0x0202020202020202LL, 0x0303030303030303LL);
    const __m256i bit  = _mm256_set1_epi64x((int64_t) 0x8040201008040201ULL);
    const __m256i all  = _mm256_shuffle_epi8(_mm256_set1_epi32((int) bits), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
}

// The levels of one half, as bytes.
static inline __m256i q3_kv_levels_x32(const block_q3_kv * block, int half) {
    const uint64_t path = q3_kv_path(block, half);

    uint32_t level1, level0;
    memcpy(&level1, block->level1[half], sizeof(level1));
    memcpy(&level0, block->level0[half], sizeof(level0));
    const __m256i b3 = _mm256_and_si256(q3_kv_spread(level1), _mm256_set1_epi8(8));
    const __m256i b2 = _mm256_and_si256(q3_kv_spread(level0), _mm256_set1_epi8(4));
    const __m256i b1 = _mm256_and_si256(q3_kv_spread(q3_kv_subset_bit1(path)), _mm256_set1_epi8(2));
    const __m256i b0 = _mm256_and_si256(q3_kv_spread(q3_kv_subset_bit0(path)), _mm256_set1_epi8(1));

    const __m256i levels = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) q3_kv_levels));
    return _mm256_shuffle_epi8(levels, _mm256_or_si256(_mm256_or_si256(b3, b2), _mm256_or_si256(b1, b0)));
}

void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    assert(n % QK3_KV == 0 && nrc == 1);
    GGML_UNUSED(bs);
    GGML_UNUSED(bx);
    GGML_UNUSED(by);
    GGML_UNUSED(nrc);
    const block_q3_kv * x = vx;
    const block_q8_0 *  y = vy;

    __m256 sum = _mm256_setzero_ps();
    for (int i = 0; i < n / Q3_KV_HALF; i++) {
        const block_q3_kv * block = &x[i / 2];

        const __m256i level = q3_kv_levels_x32(block, i % 2);
        const __m256i yq    = _mm256_loadu_si256((const __m256i *) y[i].qs);
        const __m256i part  = _mm256_madd_epi16(
            _mm256_maddubs_epi16(_mm256_abs_epi8(level), _mm256_sign_epi8(yq, level)), _mm256_set1_epi16(1));
        const float d = GGML_CPU_FP16_TO_FP32(block->d) * GGML_CPU_FP16_TO_FP32(y[i].d);
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(part), _mm256_set1_ps(d), sum);
    }
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    four = _mm_add_ss(four, _mm_movehdup_ps(four));
    *s   = _mm_cvtss_f32(four);
}

void ggml_vec_mad_q3_kv(int n, float * y, const void * vx, float v) {
    assert(n % QK3_KV == 0);
    const block_q3_kv * x = vx;

    for (int i = 0; i < n / Q3_KV_HALF; i++, y += Q3_KV_HALF) {
        const __m256i level = q3_kv_levels_x32(&x[i / 2], i % 2);
        const __m256  d     = _mm256_set1_ps(GGML_CPU_FP16_TO_FP32(x[i / 2].d) * v);
        int8_t        bytes[Q3_KV_HALF];
        _mm256_storeu_si256((__m256i *) bytes, level);
        for (int j = 0; j < Q3_KV_HALF; j += 8) {
            const __m256i eight = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) (bytes + j)));
            _mm256_storeu_ps(y + j, _mm256_fmadd_ps(_mm256_cvtepi32_ps(eight), d, _mm256_loadu_ps(y + j)));
        }
    }
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

// Expands each of 16 bits to a byte: 0xFF if it is set, else 0.
static inline uint8x16_t q3_kv_spread(uint32_t bits) {
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ULL));
    return vtstq_u8(vcombine_u8(vdup_n_u8((uint8_t) bits), vdup_n_u8((uint8_t) (bits >> 8))), bit);
}

// The levels of one half, as bytes.
static inline int8x16x2_t q3_kv_levels_x32(const block_q3_kv * block, int half) {
    const uint64_t path  = q3_kv_path(block, half);
    const uint32_t bit1 = q3_kv_subset_bit1(path);
    const uint32_t bit0 = q3_kv_subset_bit0(path);

    uint32_t level1, level0;
    memcpy(&level1, block->level1[half], sizeof(level1));
    memcpy(&level0, block->level0[half], sizeof(level0));

    int8x16x2_t levels;
    for (int i = 0; i < 2; i++) {
        const int  shift = 16 * i;
        uint8x16_t index = vandq_u8(q3_kv_spread(level1 >> shift), vdupq_n_u8(8));
        index = vbslq_u8(vdupq_n_u8(4), q3_kv_spread(level0 >> shift), index);
        index = vbslq_u8(vdupq_n_u8(2), q3_kv_spread(bit1 >> shift), index);
        index = vbslq_u8(vdupq_n_u8(1), q3_kv_spread(bit0 >> shift), index);
        levels.val[i] = vqtbl1q_s8(vld1q_s8(q3_kv_levels), index);
    }
    return levels;
}

void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    assert(n % QK3_KV == 0 && nrc == 1);
    GGML_UNUSED(bs);
    GGML_UNUSED(bx);
    GGML_UNUSED(by);
    GGML_UNUSED(nrc);
    const block_q3_kv * x = vx;
    const block_q8_0 *  y = vy;

    float32x4_t sum = vdupq_n_f32(0);
    for (int i = 0; i < n / Q3_KV_HALF; i++) {
        const block_q3_kv * block = &x[i / 2];

        const int8x16x2_t level = q3_kv_levels_x32(block, i % 2);
        const int32x4_t   part  = ggml_vdotq_s32(
            ggml_vdotq_s32(vdupq_n_s32(0), level.val[0], vld1q_s8(y[i].qs)), level.val[1], vld1q_s8(y[i].qs + 16));
        const float d = GGML_CPU_FP16_TO_FP32(block->d) * GGML_CPU_FP16_TO_FP32(y[i].d);
        sum = vfmaq_n_f32(sum, vcvtq_f32_s32(part), d);
    }
    *s = vaddvq_f32(sum);
}

void ggml_vec_mad_q3_kv(int n, float * y, const void * vx, float v) {
    assert(n % QK3_KV == 0);
    const block_q3_kv * x = vx;

    for (int i = 0; i < n / Q3_KV_HALF; i++) {
        const int8x16x2_t level = q3_kv_levels_x32(&x[i / 2], i % 2);
        const float       d     = GGML_CPU_FP16_TO_FP32(x[i / 2].d) * v;
        for (int j = 0; j < 2; j++, y += 16) {
            const int16x8_t low  = vmovl_s8(vget_low_s8(level.val[j]));
            const int16x8_t high = vmovl_s8(vget_high_s8(level.val[j]));
            vst1q_f32(y, vfmaq_n_f32(vld1q_f32(y), vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), d));
            vst1q_f32(y + 4, vfmaq_n_f32(vld1q_f32(y + 4), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))), d));
            vst1q_f32(y + 8, vfmaq_n_f32(vld1q_f32(y + 8), vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), d));
            vst1q_f32(y + 12, vfmaq_n_f32(vld1q_f32(y + 12), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high))), d));
        }
    }
}

#else

void ggml_vec_dot_q3_kv_q8_0(int n, float * s, size_t bs, const void * vx, size_t bx, const void * vy, size_t by, int nrc) {
    ggml_vec_dot_q3_kv_q8_0_generic(n, s, bs, vx, bx, vy, by, nrc);
}

void ggml_vec_mad_q3_kv(int n, float * y, const void * x, float v) {
    ggml_vec_mad_q3_kv_generic(n, y, x, v);
}

#endif
