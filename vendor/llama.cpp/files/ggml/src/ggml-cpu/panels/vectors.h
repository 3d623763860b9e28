// Vectors of the processor's widest useful kind, for products with panels of weights. A lane belongs to a row of a panel: 16 with
// AVX-512 and VNNI, else 8. Needs AVX2, FMA and F16C.
#pragma once

#include <cstdint>
#include <cstring>
#include <immintrin.h>

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"
#include "simd-mappings.h"

namespace {

constexpr size_t line_size = 64;

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define PANELS_OF_16
#endif
#if defined(PANELS_OF_16) || defined(__AVXVNNI__)
#define PANELS_HAVE_VNNI
constexpr bool has_vnni = true;
#else
constexpr bool has_vnni = false;
#endif

#ifdef PANELS_OF_16

constexpr int lanes = 16;
using ints   = __m512i;
using floats = __m512;

inline ints   load(const void * from) { return _mm512_loadu_si512(from); }
inline floats load(const float * from) { return _mm512_loadu_ps(from); }
inline void   store(void * to, ints values) { _mm512_storeu_si512(to, values); }
inline void   store(float * to, floats values) { _mm512_storeu_ps(to, values); }
inline ints   all(int32_t value) { return _mm512_set1_epi32(value); }
inline floats all(float value) { return _mm512_set1_ps(value); }
inline ints   add(ints a, ints b) { return _mm512_add_epi32(a, b); }
inline ints   multiply(ints a, ints b) { return _mm512_mullo_epi32(a, b); }
inline floats multiply(floats a, floats b) { return _mm512_mul_ps(a, b); }
inline floats multiply_add(floats a, floats b, floats sum) { return _mm512_fmadd_ps(a, b, sum); }
inline floats multiply_subtract(floats a, floats b, floats sum) { return _mm512_fnmadd_ps(a, b, sum); }
inline floats to_floats(ints values) { return _mm512_cvtepi32_ps(values); }
inline ints   dot_bytes(ints sum, ints weights, ints inputs) { return _mm512_dpbusd_epi32(sum, weights, inputs); }
inline ints   dot_pairs(ints sum, ints a, ints b) { return _mm512_dpwssd_epi32(sum, a, b); }
inline __m256i dot_pairs(__m256i sum, __m256i a, __m256i b) { return _mm256_dpwssd_epi32(sum, a, b); }

#else

constexpr int lanes = 8;
using ints   = __m256i;
using floats = __m256;

inline ints   load(const void * from) { return _mm256_loadu_si256((const __m256i *) from); }
inline floats load(const float * from) { return _mm256_loadu_ps(from); }
inline void   store(void * to, ints values) { _mm256_storeu_si256((__m256i *) to, values); }
inline void   store(float * to, floats values) { _mm256_storeu_ps(to, values); }
inline ints   all(int32_t value) { return _mm256_set1_epi32(value); }
inline floats all(float value) { return _mm256_set1_ps(value); }
inline ints   add(ints a, ints b) { return _mm256_add_epi32(a, b); }
inline ints   multiply(ints a, ints b) { return _mm256_mullo_epi32(a, b); }
inline floats multiply(floats a, floats b) { return _mm256_mul_ps(a, b); }
inline floats multiply_add(floats a, floats b, floats sum) { return _mm256_fmadd_ps(a, b, sum); }
inline floats multiply_subtract(floats a, floats b, floats sum) { return _mm256_fnmadd_ps(a, b, sum); }
inline floats to_floats(ints values) { return _mm256_cvtepi32_ps(values); }

#ifdef PANELS_HAVE_VNNI
inline ints dot_bytes(ints sum, ints weights, ints inputs) { return _mm256_dpbusd_avx_epi32(sum, weights, inputs); }
inline ints dot_pairs(ints sum, ints a, ints b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
#else
inline ints dot_pairs(ints sum, ints a, ints b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
#endif

#endif

inline __m256i load_32(const void * from) { return _mm256_loadu_si256((const __m256i *) from); }

inline int32_t four_bytes(const void * from) {
    int32_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

inline float to_float(ggml_half value) { return GGML_CPU_FP16_TO_FP32(value); }

// Row i of the result has the i-th value of every row.
inline void transpose(__m256i (&rows)[8]) {
    __m256i pairs[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i]     = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    __m256i fours[8];
    for (int i = 0; i < 8; i += 4) {
        for (int k = 0; k < 2; ++k) {
            fours[i + 2*k]     = _mm256_unpacklo_epi64(pairs[i + k], pairs[i + 2 + k]);
            fours[i + 2*k + 1] = _mm256_unpackhi_epi64(pairs[i + k], pairs[i + 2 + k]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        rows[i]     = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
}

// Lane i of the result is the sum of row i.
inline __m256i sums_of(const __m256i (&rows)[8]) {
    __m256i pairs[4];
    for (int i = 0; i < 4; ++i) {
        pairs[i] = _mm256_add_epi32(_mm256_unpacklo_epi32(rows[2*i], rows[2*i + 1]),
                                    _mm256_unpackhi_epi32(rows[2*i], rows[2*i + 1]));
    }
    __m256i fours[2];
    for (int i = 0; i < 2; ++i) {
        fours[i] = _mm256_add_epi32(_mm256_unpacklo_epi64(pairs[2*i], pairs[2*i + 1]),
                                    _mm256_unpackhi_epi64(pairs[2*i], pairs[2*i + 1]));
    }
    return _mm256_add_epi32(_mm256_permute2x128_si256(fours[0], fours[1], 0x20),
                            _mm256_permute2x128_si256(fours[0], fours[1], 0x31));
}

} // namespace
