// Rows of inputs, rounded to 8 bits, and decoded panels of weights.
#pragma once

#include "types.h"

namespace {

// Products of bytes are added in pairs of 16 bits, at least without VNNI: larger weights must be signed, so that they are small enough.
template <class T> constexpr bool is_signed_in_pairs  = T::largest > 127;
template <class T> constexpr bool is_signed_in_panels = !has_vnni && is_signed_in_pairs<T>;
template <class T> constexpr bool has_scales          = T::sub_blocks > 1;

// The inputs of one block of weights, rounded to 8 bits.
template <class T> struct input {
    float   scale;
    int32_t excess[T::sub_blocks];           // times -1: what `offset` adds to the sum of a sub-block
    int16_t sums[has_scales<T> ? 16 : 1];    // of each sub-block, at the place that its scale or minimum has in `scales`
    int8_t  values[T::columns];
};

// One block of each row of a panel.
template <class T> struct panel {
    // Whether integers of the weights are multiplied with the sums of the inputs, in pairs.
    static constexpr bool has_products =
        has_scales<T> && (T::has_minimums || (!has_vnni && T::offset != 0 && !is_signed_in_panels<T>));

    uint8_t weights[T::columns/4][4*lanes];
    int32_t scales[T::sub_blocks][lanes];
    int32_t products[T::sub_blocks/2 + 1][lanes];
    float   scale[lanes];
    float   minimum[lanes];
};

inline int32_t sum_of(__m128i values) {
    values = _mm_add_epi32(values, _mm_shuffle_epi32(values, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(values, _mm_shuffle_epi32(values, 0xb1)));
}

inline float largest_of(const float * values, int count) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 most = _mm256_setzero_ps();
    for (int i = 0; i < count; i += 8) {
        most = _mm256_max_ps(most, _mm256_andnot_ps(sign, _mm256_loadu_ps(values + i)));
    }
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

template <class T> void round_input(const float * values, void * to_memory) {
    auto * to = (input<T> *) to_memory;
    const float  largest = largest_of(values, T::columns);
    const __m256 factor  = _mm256_set1_ps(largest > 0 ? 127/largest : 0);
    const auto rounded = [&](int i) { return _mm256_cvtps_epi32(_mm256_mul_ps(factor, _mm256_loadu_ps(values + i))); };
    to->scale = largest/127;
    memset(to->sums, 0, sizeof(to->sums));
    for (int j = 0; j < T::columns/32; ++j) {
        const __m256i words[2] = {_mm256_packs_epi32(rounded(32*j), rounded(32*j + 8)),
                                  _mm256_packs_epi32(rounded(32*j + 16), rounded(32*j + 24))};
        // Packing takes the lower halves of both first.
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(words[0], words[1]),
                                                          _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        _mm256_storeu_si256((__m256i *) (to->values + 32*j), bytes);
        const __m256i ones   = _mm256_set1_epi8(1);
        const __m256i fours  = _mm256_madd_epi16(_mm256_maddubs_epi16(ones, bytes), _mm256_set1_epi16(1));
        const int32_t halves[2] = {sum_of(_mm256_castsi256_si128(fours)), sum_of(_mm256_extracti128_si256(fours, 1))};
        if constexpr (T::sub_blocks == 16) {
            for (int half = 0; half < 2; ++half) {
                to->excess[2*j + half] = -T::offset*halves[half];
                to->sums[2*j + half]   = (int16_t) halves[half];
            }
        } else {
            to->excess[j] = -T::offset*(halves[0] + halves[1]);
            if constexpr (has_scales<T>) {
                to->sums[j + (T::has_minimums ? 8 : 0)] = (int16_t) (halves[0] + halves[1]);
            }
        }
    }
}

// Block `at` of each of the panel's rows.
template <class T> void decode(const char * const (&rows)[lanes], int64_t at, panel<T> & to) {
    for (int first = 0; first < lanes; first += 8) {
        const typename T::block * blocks[8];
        __m256i lines[8];
        for (int r = 0; r < 8; ++r) {
            blocks[r] = (const typename T::block *) rows[first + r] + at;
            to.scale[first + r] = T::scale(blocks[r]);
            if constexpr (T::has_minimums) {
                to.minimum[first + r] = T::minimum(blocks[r]);
            }
        }
#pragma GCC unroll 8
        for (int j = 0; j < T::columns/32; ++j) {
            for (int r = 0; r < 8; ++r) {
                lines[r] = T::weights(blocks[r], j);
                if constexpr (is_signed_in_panels<T>) {
                    lines[r] = _mm256_sub_epi8(lines[r], _mm256_set1_epi8((char) T::offset));
                }
            }
            transpose(lines);
            for (int i = 0; i < 8; ++i) {
                _mm256_storeu_si256((__m256i *) (to.weights[8*j + i] + 4*first), lines[i]);
            }
        }
        if constexpr (has_scales<T>) {
            for (int r = 0; r < 8; ++r) {
                lines[r] = T::scales(blocks[r]);
            }
            transpose(lines); // now each has a pair of integers of every row
            for (int i = 0; i < T::sub_blocks/2; ++i) {
                __m256i low  = _mm256_srai_epi32(_mm256_slli_epi32(lines[i], 16), 16);
                __m256i high = _mm256_srai_epi32(lines[i], 16);
                if constexpr (!has_vnni) { // twice in 32 bits
                    low  = _mm256_blend_epi16(low, _mm256_slli_epi32(low, 16), 0xaa);
                    high = _mm256_blend_epi16(high, _mm256_slli_epi32(high, 16), 0xaa);
                }
                _mm256_storeu_si256((__m256i *) (to.scales[2*i] + first), low);
                _mm256_storeu_si256((__m256i *) (to.scales[2*i + 1] + first), high);
                if constexpr (panel<T>::has_products) {
                    _mm256_storeu_si256((__m256i *) (to.products[i] + first), lines[i + (T::has_minimums ? 4 : 0)]);
                }
            }
        }
    }
}

} // namespace
