// Encoding and decoding of q3_kv (described in ggml-q3-kv.h), in plain loops that compilers vectorize. Included by ggml-q3-kv.c
// and by ggml-cpu/q3-kv.c, which is compiled for the processor of this machine.
//
// Bit i of a path is t[i]; a state is the eight bits before it, with t[i - 1] in bit 0.
//   subset bit 1 = t[i] + t[i - 2] + t[i - 3] + t[i - 6] + t[i - 8]
//   subset bit 0 = t[i - 1] + t[i - 4] + t[i - 5] + t[i - 6] + t[i - 7]

#pragma once

#include "ggml-common.h"
#include "ggml.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#    include <immintrin.h>
#endif

#define Q3_KV_HALF   32 // values per trellis
#define Q3_KV_STATES 256

// The levels with the least squared error for Gaussian values under this trellis, scaled to fill a signed byte.
// Level 4*u + s is the u-th level of subset s.
static const int8_t q3_kv_levels[16] = { -127, -95, -74, -57, -43, -30, -18, -6, 6, 18, 30, 43, 57, 74, 95, 127 };

// The largest value of a block is scaled to this, in the same units: slightly beyond the last level. It predicts the best scale
// better than the standard deviation of the block does.
#define Q3_KV_LARGEST 134.0f

// Values beyond the first, and blocks with no value beyond the second, would need a scale that half precision cannot represent.
#define Q3_KV_VALUE_MAX 3.0e6f
#define Q3_KV_VALUE_MIN 1.0e-8f
#define Q3_KV_SCALE_MAX 65504.0f

// Differences of errors are clamped to this, so that 32 of them fit 16 bits. No value between the levels reaches it.
#define Q3_KV_ERROR_MAX 2047.0f

// The subset of each branch that leaves a state below 128: for t = 0 it has these two bits, for t = 1 bit 1 is inverted. For the
// state 128 higher the two branches are exchanged.
typedef struct {
    uint16_t bit1[Q3_KV_STATES / 2]; // 0xFFFF if it is set, else 0
    uint16_t bit0[Q3_KV_STATES / 2];
} q3_kv_trellis;

// State of the search for the best path of 32 values.
typedef struct {
    uint16_t error[4][Q3_KV_HALF];           // squared error of each subset's best level, minus the least of the four
    uint8_t  level[4][Q3_KV_HALF];           // the index u of that level
    uint16_t total[2][Q3_KV_STATES];         // error of the best path to each state; written alternately
    uint8_t  from[Q3_KV_HALF][Q3_KV_STATES]; // the bit that the previous state shifted out
} q3_kv_search;

static inline void q3_kv_trellis_init(q3_kv_trellis * trellis) {
    for (int state = 0; state < Q3_KV_STATES / 2; state++) {
        const int bit1 = (state >> 1) ^ (state >> 2) ^ (state >> 5);
        const int bit0 = (state >> 0) ^ (state >> 3) ^ (state >> 4) ^ (state >> 5) ^ (state >> 6);

        trellis->bit1[state] = (bit1 & 1) ? 0xFFFF : 0;
        trellis->bit0[state] = (bit0 & 1) ? 0xFFFF : 0;
    }
}

// The two subset bits of 32 values: bit i belongs to value i. Bit i + 8 of the path is t[i].
static inline uint32_t q3_kv_subset_bit1(uint64_t path) {
    return (uint32_t) (path ^ (path >> 2) ^ (path >> 5) ^ (path >> 6) ^ (path >> 8));
}

static inline uint32_t q3_kv_subset_bit0(uint64_t path) {
    return (uint32_t) ((path >> 1) ^ (path >> 2) ^ (path >> 3) ^ (path >> 4) ^ (path >> 7));
}

// The path of one half: the initial state, then one bit per value.
static inline uint64_t q3_kv_path(const block_q3_kv * block, int half) {
    uint32_t path;
    memcpy(&path, block->path[half], sizeof(path));
    return (uint64_t) path << 8 | block->start[half];
}

static inline void q3_kv_levels_of(const block_q3_kv * block, int8_t * levels) {
    for (int half = 0; half < 2; half++) {
        const uint64_t path  = q3_kv_path(block, half);
        const uint32_t bit1 = q3_kv_subset_bit1(path);
        const uint32_t bit0 = q3_kv_subset_bit0(path);

        uint32_t level1, level0;
        memcpy(&level1, block->level1[half], sizeof(level1));
        memcpy(&level0, block->level0[half], sizeof(level0));
        for (int i = 0; i < Q3_KV_HALF; i++) {
            const uint32_t index = (level1 >> i & 1) << 3 | (level0 >> i & 1) << 2 | (bit1 >> i & 1) << 1 | (bit0 >> i & 1);
            levels[half * Q3_KV_HALF + i] = q3_kv_levels[index];
        }
    }
}

static inline void q3_kv_search_errors(const float * v, q3_kv_search * search) {
    float best[4][Q3_KV_HALF];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < Q3_KV_HALF; i++) {
            const float first = v[i] - q3_kv_levels[s];

            float   error = first * first;
            int32_t level = 0;
            for (int u = 1; u < 4; u++) {
                const float e = (v[i] - q3_kv_levels[4 * u + s]) * (v[i] - q3_kv_levels[4 * u + s]);
                level = e < error ? u : level;
                error = e < error ? e : error;
            }
            best[s][i]          = error;
            search->level[s][i] = (uint8_t) level;
        }
    }
    for (int i = 0; i < Q3_KV_HALF; i++) {
        const float low   = best[0][i] < best[1][i] ? best[0][i] : best[1][i];
        const float high  = best[2][i] < best[3][i] ? best[2][i] : best[3][i];
        const float least = low < high ? low : high;
        for (int s = 0; s < 4; s++) {
            const float more = best[s][i] - least;
            search->error[s][i] = (uint16_t) (int32_t) (more < Q3_KV_ERROR_MAX ? more : Q3_KV_ERROR_MAX);
        }
    }
}

// One step of the Viterbi algorithm: extends the best paths by value i.
#if defined(__AVX2__)
static inline void q3_kv_search_step(const q3_kv_trellis * trellis, q3_kv_search * search, int i) {
    const uint16_t * total = search->total[i & 1];
    uint16_t *       next  = search->total[(i & 1) ^ 1];

    const __m256i e0  = _mm256_set1_epi16((int16_t) search->error[0][i]);
    const __m256i e2  = _mm256_set1_epi16((int16_t) search->error[2][i]);
    const __m256i e01 = _mm256_xor_si256(e0, _mm256_set1_epi16((int16_t) search->error[1][i]));
    const __m256i e23 = _mm256_xor_si256(e2, _mm256_set1_epi16((int16_t) search->error[3][i]));
    for (int state = 0; state < Q3_KV_STATES / 2; state += 16) {
        const __m256i bit0  = _mm256_loadu_si256((const __m256i *) (trellis->bit0 + state));
        const __m256i bit1  = _mm256_loadu_si256((const __m256i *) (trellis->bit1 + state));
        const __m256i low   = _mm256_xor_si256(e0, _mm256_and_si256(e01, bit0));
        const __m256i high  = _mm256_xor_si256(e2, _mm256_and_si256(e23, bit0));
        const __m256i turn  = _mm256_and_si256(_mm256_xor_si256(low, high), bit1);
        const __m256i same  = _mm256_xor_si256(low, turn);
        const __m256i other = _mm256_xor_si256(high, turn);

        const __m256i a     = _mm256_loadu_si256((const __m256i *) (total + state));
        const __m256i b     = _mm256_loadu_si256((const __m256i *) (total + state + Q3_KV_STATES / 2));
        const __m256i a0    = _mm256_add_epi16(a, same);
        const __m256i a1    = _mm256_add_epi16(a, other);
        const __m256i n0    = _mm256_min_epu16(a0, _mm256_add_epi16(b, other));
        const __m256i n1    = _mm256_min_epu16(a1, _mm256_add_epi16(b, same));

        // next[2*state] is n0 and next[2*state + 1] is n1: interleaved within each half of a vector, then across halves
        const __m256i lo = _mm256_unpacklo_epi16(n0, n1);
        const __m256i hi = _mm256_unpackhi_epi16(n0, n1);
        _mm256_storeu_si256((__m256i *) (next + 2 * state), _mm256_permute2x128_si256(lo, hi, 0x20));
        _mm256_storeu_si256((__m256i *) (next + 2 * state + 16), _mm256_permute2x128_si256(lo, hi, 0x31));

        const __m256i from_a0 = _mm256_cmpeq_epi16(n0, a0);
        const __m256i from_a1 = _mm256_cmpeq_epi16(n1, a1);
        const __m256i from_a  = _mm256_packs_epi16(
            _mm256_unpacklo_epi16(from_a0, from_a1), _mm256_unpackhi_epi16(from_a0, from_a1));
        _mm256_storeu_si256((__m256i *) (search->from[i] + 2 * state), _mm256_andnot_si256(from_a, _mm256_set1_epi8(1)));
    }
}
#else
static inline void q3_kv_search_step(const q3_kv_trellis * trellis, q3_kv_search * search, int i) {
    const uint16_t * GGML_RESTRICT total = search->total[i & 1];
    uint16_t * GGML_RESTRICT       next  = search->total[(i & 1) ^ 1];
    uint8_t * GGML_RESTRICT        from  = search->from[i];

    const uint16_t e0 = search->error[0][i], e01 = e0 ^ search->error[1][i];
    const uint16_t e2 = search->error[2][i], e23 = e2 ^ search->error[3][i];
    for (int state = 0; state < Q3_KV_STATES / 2; state++) {
        const uint16_t low   = e0 ^ (e01 & trellis->bit0[state]);
        const uint16_t high  = e2 ^ (e23 & trellis->bit0[state]);
        const uint16_t turn  = (low ^ high) & trellis->bit1[state];
        const uint16_t same  = low ^ turn;
        const uint16_t other = high ^ turn;

        const uint16_t a0 = total[state] + same;
        const uint16_t b0 = total[state + Q3_KV_STATES / 2] + other;
        const uint16_t a1 = total[state] + other;
        const uint16_t b1 = total[state + Q3_KV_STATES / 2] + same;

        next[2 * state]     = b0 < a0 ? b0 : a0;
        next[2 * state + 1] = b1 < a1 ? b1 : a1;
        from[2 * state]     = b0 < a0;
        from[2 * state + 1] = b1 < a1;
    }
}
#endif

// Traces back the best path and writes one half of the block.
static inline void q3_kv_search_end(const q3_kv_search * search, block_q3_kv * block, int half) {
    const uint16_t * total = search->total[Q3_KV_HALF & 1];

    uint32_t state = 0;
    for (uint32_t s = 1; s < Q3_KV_STATES; s++) {
        state = total[s] < total[state] ? s : state;
    }
    uint32_t path = 0, level1 = 0, level0 = 0;
    for (int i = Q3_KV_HALF - 1; i >= 0; i--) {
        const uint32_t w = state | (uint32_t) search->from[i][state] << 8; // bit d is t[i - d]
        const uint32_t s = ((w ^ w >> 2 ^ w >> 3 ^ w >> 6 ^ w >> 8) & 1) << 1 | ((w >> 1 ^ w >> 4 ^ w >> 5 ^ w >> 6 ^ w >> 7) & 1);
        const uint32_t u = search->level[s][i];
        path    |= (w & 1) << i;
        level1 |= (u >> 1) << i;
        level0 |= (u & 1) << i;
        state   = w >> 1;
    }
    uint8_t start = 0;
    for (int i = 0; i < 8; i++) {
        start |= (state >> i & 1) << (7 - i);
    }
    block->start[half] = start;
    memcpy(block->path[half], &path, sizeof(path));
    memcpy(block->level1[half], &level1, sizeof(level1));
    memcpy(block->level0[half], &level0, sizeof(level0));
}

// Dot product over a block, in eight partial sums so that it can be vectorized.
static inline float q3_kv_dot(const float * a, const float * b) {
    float part[8] = { 0 };
    for (int i = 0; i < QK3_KV; i += 8) {
        for (int j = 0; j < 8; j++) {
            part[j] += a[i + j] * b[i + j];
        }
    }
    return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

// Encodes a block and returns its scale, which the caller stores. Every input is valid: NaN counts as 0.
static inline float q3_kv_encode(const q3_kv_trellis * trellis, const float * values, block_q3_kv * block) {
    float x[QK3_KV];
    float largest = 0.0f;
    for (int i = 0; i < QK3_KV; i++) {
        const float low = values[i] < Q3_KV_VALUE_MAX ? values[i] : Q3_KV_VALUE_MAX;
        const float cut = low > -Q3_KV_VALUE_MAX ? low : -Q3_KV_VALUE_MAX;
        x[i] = values[i] == values[i] ? cut : 0.0f;
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    }
    if (largest < Q3_KV_VALUE_MIN) {
        memset(block, 0, sizeof(*block));
        return 0.0f;
    }
    float v[QK3_KV];
    for (int i = 0; i < QK3_KV; i++) {
        v[i] = x[i] * (Q3_KV_LARGEST / largest);
    }
    q3_kv_search search;
    for (int half = 0; half < 2; half++) {
        q3_kv_search_errors(v + half * Q3_KV_HALF, &search);
        memset(search.total[0], 0, sizeof(search.total[0]));
        for (int i = 0; i < Q3_KV_HALF; i++) {
            q3_kv_search_step(trellis, &search, i);
        }
        q3_kv_search_end(&search, block, half);
    }
    int8_t bytes[QK3_KV];
    float  levels[QK3_KV];
    q3_kv_levels_of(block, bytes);
    for (int i = 0; i < QK3_KV; i++) {
        levels[i] = bytes[i];
    }
    const float scale = q3_kv_dot(x, x) / q3_kv_dot(x, levels);
    return scale < Q3_KV_SCALE_MAX ? scale : Q3_KV_SCALE_MAX;
}
