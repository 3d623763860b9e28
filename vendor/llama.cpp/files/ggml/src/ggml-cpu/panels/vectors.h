// Wraps the processor's widest useful vectors, for products by panels. A lane of 32 bits belongs to a row of a panel:
// 16 with AVX-512 and VNNI, else 8. Before they are transposed, a vector has 32 bytes of each of two rows of weights, or of one.
// Needs AVX2, FMA and F16C.
#pragma once

#include <cstdint>
#include <cstring>
#include <immintrin.h>

#define GGML_COMMON_IMPL_CPP
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "ggml-impl.h"

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

#if defined(PANELS_OF_16) && defined(__AVX512BF16__)
#define PANELS_HAVE_BF16
#endif

#ifdef PANELS_OF_16

constexpr int lanes = 16;
using ints       = __m512i;
using half_ints  = __m256i;
using floats     = __m512;

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

inline ints   join(__m256i first, __m256i second) { return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1); }
inline ints   each_row(__m256i values) { return _mm512_broadcast_i64x4(values); }
inline ints   all_bytes(char value) { return _mm512_set1_epi8(value); }
inline ints   all_pairs(int16_t value) { return _mm512_set1_epi16(value); }
inline ints   both(ints a, ints b) { return _mm512_and_si512(a, b); }
inline ints   either(ints a, ints b) { return _mm512_or_si512(a, b); }
inline ints   one_of(ints a, ints b) { return _mm512_xor_si512(a, b); }
inline ints   shift_left(ints pairs, int by) { return _mm512_slli_epi16(pairs, by); }
inline ints   shift_left_fours(ints words, int by) { return _mm512_slli_epi32(words, by); }
inline ints   shift_right(ints pairs, int by) { return _mm512_srli_epi16(pairs, by); }
inline ints   shift_right_signed(ints pairs, int by) { return _mm512_srai_epi16(pairs, by); }
inline ints   shift_right_each(ints words, ints by) { return _mm512_srlv_epi64(words, by); }
inline ints   shift_right_fours(ints words, ints by) { return _mm512_srlv_epi32(words, by); }
inline ints   add_bytes(ints a, ints b) { return _mm512_add_epi8(a, b); }
inline ints   subtract_bytes(ints a, ints b) { return _mm512_sub_epi8(a, b); }
inline ints   multiply_pairs(ints a, ints b) { return _mm512_mullo_epi16(a, b); }
inline ints   sums_of_two(ints bytes, ints signed_bytes) { return _mm512_maddubs_epi16(bytes, signed_bytes); }
inline ints   sums_of_pairs(ints a, ints b) { return _mm512_madd_epi16(a, b); }
inline ints   pick_bytes(ints from, ints at) { return _mm512_shuffle_epi8(from, at); }
template <int order> inline ints pick_words(ints from) { return _mm512_permutex_epi64(from, order); }
inline ints   pick_lanes(ints from, ints at) { return _mm512_permutexvar_epi32(at, from); }
inline ints   widen(half_ints bytes) { return _mm512_cvtepi8_epi16(bytes); }
inline ints   subtract(ints a, ints b) { return _mm512_sub_epi32(a, b); }
inline ints   pack_fours(ints a, ints b) { return _mm512_packs_epi32(a, b); }
inline ints   pack_pairs(ints a, ints b) { return _mm512_packus_epi16(a, b); } // to unsigned bytes
// Lanes 1, 3, 5 and 7 of each row of a, and then of b.
inline ints   odd_lanes(ints a, ints b) {
    return _mm512_permutex2var_epi32(a, _mm512_setr_epi32(1, 3, 5, 7, 17, 19, 21, 23, 9, 11, 13, 15, 25, 27, 29, 31), b);
}
inline ints   widen_low_pairs(ints pairs) { return _mm512_srai_epi32(_mm512_unpacklo_epi16(pairs, pairs), 16); }
inline floats to_floats(half_ints halves) { return _mm512_cvtph_ps(halves); }
inline half_ints low_words(ints words) { return _mm512_cvtepi32_epi16(words); }
inline half_ints high_words(ints words) { return low_words(_mm512_srli_epi32(words, 16)); }
inline ints   as_ints(floats values) { return _mm512_castps_si512(values); }
inline floats as_floats(ints values) { return _mm512_castsi512_ps(values); }
inline floats add(floats a, floats b) { return _mm512_add_ps(a, b); }
inline half_ints load_half(const void * from) { return _mm256_loadu_si256((const __m256i *) from); }
inline ints   upper_words(half_ints words) { return _mm512_slli_epi32(_mm512_cvtepu16_epi32(words), 16); } // lower ones are 0
inline ints   unpack_low_4(ints a, ints b) { return _mm512_unpacklo_epi32(a, b); }
inline ints   unpack_high_4(ints a, ints b) { return _mm512_unpackhi_epi32(a, b); }
inline ints   unpack_low_8(ints a, ints b) { return _mm512_unpacklo_epi64(a, b); }
inline ints   unpack_high_8(ints a, ints b) { return _mm512_unpackhi_epi64(a, b); }
// The lower, or the upper, 16 of each 32 bytes of both.
inline ints   lower_halves(ints a, ints b) { return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b); }
inline ints   upper_halves(ints a, ints b) { return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b); }

#else

constexpr int lanes = 8;
using ints       = __m256i;
using half_ints  = __m128i;
using floats     = __m256;

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

inline ints   each_row(__m256i values) { return values; }
inline ints   all_bytes(char value) { return _mm256_set1_epi8(value); }
inline ints   all_pairs(int16_t value) { return _mm256_set1_epi16(value); }
inline ints   both(ints a, ints b) { return _mm256_and_si256(a, b); }
inline ints   either(ints a, ints b) { return _mm256_or_si256(a, b); }
inline ints   one_of(ints a, ints b) { return _mm256_xor_si256(a, b); }
inline ints   shift_left(ints pairs, int by) { return _mm256_slli_epi16(pairs, by); }
inline ints   shift_left_fours(ints words, int by) { return _mm256_slli_epi32(words, by); }
inline ints   shift_right(ints pairs, int by) { return _mm256_srli_epi16(pairs, by); }
inline ints   shift_right_signed(ints pairs, int by) { return _mm256_srai_epi16(pairs, by); }
inline ints   shift_right_each(ints words, ints by) { return _mm256_srlv_epi64(words, by); }
inline ints   shift_right_fours(ints words, ints by) { return _mm256_srlv_epi32(words, by); }
inline ints   add_bytes(ints a, ints b) { return _mm256_add_epi8(a, b); }
inline ints   subtract_bytes(ints a, ints b) { return _mm256_sub_epi8(a, b); }
inline ints   multiply_pairs(ints a, ints b) { return _mm256_mullo_epi16(a, b); }
inline ints   sums_of_two(ints bytes, ints signed_bytes) { return _mm256_maddubs_epi16(bytes, signed_bytes); }
inline ints   sums_of_pairs(ints a, ints b) { return _mm256_madd_epi16(a, b); }
inline ints   pick_bytes(ints from, ints at) { return _mm256_shuffle_epi8(from, at); }
template <int order> inline ints pick_words(ints from) { return _mm256_permute4x64_epi64(from, order); }
inline ints   pick_lanes(ints from, ints at) { return _mm256_permutevar8x32_epi32(from, at); }
inline ints   widen(half_ints bytes) { return _mm256_cvtepi8_epi16(bytes); }
inline ints   subtract(ints a, ints b) { return _mm256_sub_epi32(a, b); }
inline ints   pack_fours(ints a, ints b) { return _mm256_packs_epi32(a, b); }
inline ints   pack_pairs(ints a, ints b) { return _mm256_packus_epi16(a, b); }
inline ints   odd_lanes(ints a, ints b) {
    return pick_words<0xd8>(_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd)));
}
inline ints   widen_low_pairs(ints pairs) { return _mm256_srai_epi32(_mm256_unpacklo_epi16(pairs, pairs), 16); }
inline floats to_floats(half_ints halves) { return _mm256_cvtph_ps(halves); }
inline half_ints low_words(ints words) {
    const __m128i pick = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm_unpacklo_epi64(_mm_shuffle_epi8(_mm256_castsi256_si128(words), pick),
                              _mm_shuffle_epi8(_mm256_extracti128_si256(words, 1), pick));
}
inline half_ints high_words(ints words) { return low_words(_mm256_srli_epi32(words, 16)); }
inline ints   as_ints(floats values) { return _mm256_castps_si256(values); }
inline floats as_floats(ints values) { return _mm256_castsi256_ps(values); }
inline floats add(floats a, floats b) { return _mm256_add_ps(a, b); }
inline half_ints load_half(const void * from) { return _mm_loadu_si128((const __m128i *) from); }
inline ints   upper_words(half_ints words) { return _mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16); }
inline ints   unpack_low_4(ints a, ints b) { return _mm256_unpacklo_epi32(a, b); }
inline ints   unpack_high_4(ints a, ints b) { return _mm256_unpackhi_epi32(a, b); }
inline ints   unpack_low_8(ints a, ints b) { return _mm256_unpacklo_epi64(a, b); }
inline ints   unpack_high_8(ints a, ints b) { return _mm256_unpackhi_epi64(a, b); }
inline ints   lower_halves(ints a, ints b) { return _mm256_permute2x128_si256(a, b, 0x20); }
inline ints   upper_halves(ints a, ints b) { return _mm256_permute2x128_si256(a, b, 0x31); }

#ifdef PANELS_HAVE_VNNI
inline ints dot_bytes(ints sum, ints weights, ints inputs) { return _mm256_dpbusd_avx_epi32(sum, weights, inputs); }
inline ints dot_pairs(ints sum, ints a, ints b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
#else
inline ints dot_pairs(ints sum, ints a, ints b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
#endif

#endif

inline __m128i load_16(const void * from) { return _mm_loadu_si128((const __m128i *) from); }
inline __m256i load_32(const void * from) { return _mm256_loadu_si256((const __m256i *) from); }

inline int32_t four_bytes(const void * from) {
    int32_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

inline float a_float(const void * from) {
    float value;
    memcpy(&value, from, sizeof(value));
    return value;
}

// From 16 bits.
inline float to_float(const void * from) {
    ggml_half value;
    memcpy(&value, from, sizeof(value));
    return _cvtsh_ss(value);
}

constexpr int blocks_together = lanes/8;

// Blocks of weights, of different rows or consecutive ones, of which a vector holds 32 bytes each.
template <class B> struct together {
    const B * each[blocks_together];
};

#ifdef PANELS_OF_16
template <class B> inline ints load_32(const together<B> & blocks, size_t at) {
    return join(load_32((const char *) blocks.each[0] + at), load_32((const char *) blocks.each[1] + at));
}
template <class B> inline half_ints load_16(const together<B> & blocks, size_t at) {
    return _mm256_set_m128i(load_16((const char *) blocks.each[1] + at), load_16((const char *) blocks.each[0] + at));
}
template <class B> inline ints each_16_twice(const together<B> & blocks, size_t at) {
    return _mm512_mask_broadcast_i32x4(_mm512_broadcast_i32x4(load_16((const char *) blocks.each[0] + at)), 0xff00,
                                       load_16((const char *) blocks.each[1] + at));
}
template <class B> inline ints all_4(const together<B> & blocks, size_t at) {
    return join(_mm256_set1_epi32(four_bytes((const char *) blocks.each[0] + at)),
                _mm256_set1_epi32(four_bytes((const char *) blocks.each[1] + at)));
}
#else
template <class B> inline ints load_32(const together<B> & blocks, size_t at) { return load_32((const char *) blocks.each[0] + at); }
template <class B> inline half_ints load_16(const together<B> & blocks, size_t at) {
    return load_16((const char *) blocks.each[0] + at);
}
template <class B> inline ints each_16_twice(const together<B> & blocks, size_t at) {
    return _mm256_broadcastsi128_si256(load_16(blocks, at));
}
template <class B> inline ints all_4(const together<B> & blocks, size_t at) {
    return _mm256_set1_epi32(four_bytes((const char *) blocks.each[0] + at));
}
#endif

// A constant for each 4 of 16 bytes.
struct fours {
    int each[4];
};

// Of vectors with 16 bytes of each row.
#ifdef PANELS_OF_16
template <int order> inline half_ints pick_fours(half_ints from) { return _mm256_shuffle_epi32(from, order); }
inline half_ints each_16(fours of) { return _mm256_setr_epi32(of.each[0], of.each[1], of.each[2], of.each[3], of.each[0], of.each[1], of.each[2], of.each[3]); }
inline half_ints shift_fours(half_ints from, fours left, fours right) {
    return _mm256_srlv_epi32(_mm256_sllv_epi32(from, each_16(left)), each_16(right));
}
inline half_ints both(half_ints a, fours b) { return _mm256_and_si256(a, each_16(b)); }
inline half_ints either(half_ints a, half_ints b) { return _mm256_or_si256(a, b); }
inline half_ints subtract_bytes(half_ints a, fours b) { return _mm256_sub_epi8(a, each_16(b)); }
inline half_ints interleave_high(half_ints a, half_ints b) { return _mm256_unpackhi_epi8(a, b); } // the last 8 bytes of both
#else
template <int order> inline half_ints pick_fours(half_ints from) { return _mm_shuffle_epi32(from, order); }
inline half_ints each_16(fours of) { return _mm_setr_epi32(of.each[0], of.each[1], of.each[2], of.each[3]); }
inline half_ints shift_fours(half_ints from, fours left, fours right) {
    return _mm_srlv_epi32(_mm_sllv_epi32(from, each_16(left)), each_16(right));
}
inline half_ints both(half_ints a, fours b) { return _mm_and_si128(a, each_16(b)); }
inline half_ints either(half_ints a, half_ints b) { return _mm_or_si128(a, b); }
inline half_ints subtract_bytes(half_ints a, fours b) { return _mm_sub_epi8(a, each_16(b)); }
inline half_ints interleave_high(half_ints a, half_ints b) { return _mm_unpackhi_epi8(a, b); }
#endif

// 16 bytes of the first of these rows and of every fourth one after it.
inline ints each_fourth_16(const char * const * rows, size_t at) {
#ifdef PANELS_OF_16
    return join(_mm256_set_m128i(load_16(rows[4] + at), load_16(rows[0] + at)),
                _mm256_set_m128i(load_16(rows[12] + at), load_16(rows[8] + at)));
#else
    return _mm256_set_m128i(load_16(rows[4] + at), load_16(rows[0] + at));
#endif
}

// The same 16 bytes, or 32, beside each row.
#ifdef PANELS_OF_16
inline ints each_row_16(__m128i values) { return _mm512_broadcast_i32x4(values); }
#else
inline ints each_row_16(__m128i values) { return _mm256_broadcastsi128_si256(values); }
#endif
inline ints each_row_32(int64_t a, int64_t b, int64_t c, int64_t d) { return each_row(_mm256_setr_epi64x(a, b, c, d)); }

// Indices for `pick_lanes`: the j-th lane of each row.
inline ints each_lane_of_row(int j) {
#ifdef PANELS_OF_16
    return join(_mm256_set1_epi32(j), _mm256_set1_epi32(8 + j));
#else
    return all(j);
#endif
}

#ifndef PANELS_OF_16
// The j-th lane of each half.
inline ints all_of_half(ints from, int j) {
    switch (j) {
        case 0:  return _mm256_shuffle_epi32(from, 0x00);
        case 1:  return _mm256_shuffle_epi32(from, 0x55);
        case 2:  return _mm256_shuffle_epi32(from, 0xaa);
        default: return _mm256_shuffle_epi32(from, 0xff);
    }
}
#endif

// Row i of the result has the i-th value of every row; with two rows in a vector, of the first ones and then of the second ones.
inline void transpose(ints (&rows)[8]) {
    ints pairs[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i]     = unpack_low_4(rows[i], rows[i + 1]);
        pairs[i + 1] = unpack_high_4(rows[i], rows[i + 1]);
    }
    ints fours[8];
    for (int i = 0; i < 8; i += 4) {
        for (int k = 0; k < 2; ++k) {
            fours[i + 2*k]     = unpack_low_8(pairs[i + k], pairs[i + 2 + k]);
            fours[i + 2*k + 1] = unpack_high_8(pairs[i + k], pairs[i + 2 + k]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        rows[i]     = lower_halves(fours[i], fours[i + 4]);
        rows[i + 4] = upper_halves(fours[i], fours[i + 4]);
    }
}

// A panel's rows, from the same block on.
using row_blocks = const char * const (&)[lanes];

// Four vectors of one 4 bytes of each row, for 16 bytes of it.
struct four_columns {
    ints each[4];
};

inline four_columns load_16(row_blocks rows, size_t at) {
    ints of_rows[4]; // i, i + 4 and so on
    for (int i = 0; i < 4; ++i) {
        of_rows[i] = each_fourth_16(rows + i, at);
    }
    ints pairs[4];
    for (int i = 0; i < 2; ++i) {
        pairs[i]     = unpack_low_4(of_rows[2*i], of_rows[2*i + 1]);
        pairs[i + 2] = unpack_high_4(of_rows[2*i], of_rows[2*i + 1]);
    }
    return {{unpack_low_8(pairs[0], pairs[1]), unpack_high_8(pairs[0], pairs[1]), unpack_low_8(pairs[2], pairs[3]),
             unpack_high_8(pairs[2], pairs[3])}};
}

template <class F> inline four_columns of_columns(F of) { return {{of(0), of(1), of(2), of(3)}}; }
template <int order> inline four_columns pick_fours(const four_columns & from) {
    return of_columns([&](int k) { return from.each[order >> 2*k & 3]; });
}
inline four_columns shift_fours(const four_columns & from, fours left, fours right) {
    return of_columns([&](int k) { return shift_right_fours(shift_left_fours(from.each[k], left.each[k]), all(right.each[k])); });
}
inline four_columns both(const four_columns & a, fours b) {
    return of_columns([&](int k) { return both(a.each[k], all(b.each[k])); });
}
inline four_columns either(const four_columns & a, const four_columns & b) {
    return of_columns([&](int k) { return either(a.each[k], b.each[k]); });
}
inline four_columns subtract_bytes(const four_columns & a, fours b) {
    return of_columns([&](int k) { return subtract_bytes(a.each[k], all(b.each[k])); });
}

// 4 of each 32 bytes of weights, for every row of a panel: the bytes of a block from `first` on, transposed.
template <size_t first> struct columns {
    const ints * each;
    int          of_32;
};
template <size_t first> inline ints load_32(const columns<first> & from, size_t at) { return from.each[(at - first)/4 + from.of_32]; }

// Lane i of vector j of the result is lane j of vector i.
inline void transpose_lanes(floats (&vectors)[lanes]) {
    ints parts[lanes/8][8];
    for (int i = 0; i < 8; ++i) {
#ifdef PANELS_OF_16
        parts[0][i] = _mm512_shuffle_i64x2(as_ints(vectors[i]), as_ints(vectors[i + 8]), 0x44);
        parts[1][i] = _mm512_shuffle_i64x2(as_ints(vectors[i]), as_ints(vectors[i + 8]), 0xee);
#else
        parts[0][i] = as_ints(vectors[i]);
#endif
    }
    for (auto & part : parts) {
        transpose(part);
    }
    for (int i = 0; i < lanes; ++i) {
        vectors[i] = as_floats(parts[i/8][i%8]);
    }
}

// Lane i of the result is the sum of vector i, where vectors have two blocks in each half; still in four parts.
inline ints sums_of_lanes(const ints (&from)[4]) {
    ints pairs[2];
    for (int i = 0; i < 2; ++i) {
        pairs[i] = add(unpack_low_4(from[2*i], from[2*i + 1]), unpack_high_4(from[2*i], from[2*i + 1]));
    }
    return add(unpack_low_8(pairs[0], pairs[1]), unpack_high_8(pairs[0], pairs[1]));
}

// The sums of 8 blocks, each lane for a different row. `fours` are what `sums_of_lanes` gave: of a row's 8 blocks where a vector
// has two of them, else of blocks 0 to 3 of 8 rows and then of blocks 4 to 7.
inline void sums_of_blocks(const ints (&fours)[16], ints (&blocks)[8]) {
    for (int i = 0; i < 8; ++i) {
        blocks[i] = add(lower_halves(fours[i], fours[i + 8]), upper_halves(fours[i], fours[i + 8]));
    }
    transpose(blocks);
#ifdef PANELS_OF_16
    // Now vector i has blocks 2*i and 2*i + 1 of rows 0 to 7, and vector i + 4 those of rows 8 to 15.
    ints first[4], last[4];
    for (int i = 0; i < 4; ++i) {
        first[i] = _mm512_shuffle_i64x2(blocks[i], blocks[i + 4], 0x44);
        last[i]  = _mm512_shuffle_i64x2(blocks[i], blocks[i + 4], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        blocks[2*i]     = first[i];
        blocks[2*i + 1] = last[i];
    }
#endif
}

} // namespace
