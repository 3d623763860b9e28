// The types of weights that are multiplied by panels.
#pragma once

#include "vectors.h"

namespace {

// A type has these for a block of weights:
// - `weights(block, j)`: those from 32*j on as unsigned bytes, greater than their values by `offset` and not above `largest`;
// - `scale(block)`: a float for all of them;
// - with several sub-blocks, `scales(block)`: 16 integers of 16 bits, which are the scales of 16 sub-blocks, or those of 8 and then,
//   with `has_minimums`, 8 that are subtracted as often as `minimum(block)` says.

inline __m256i low_nibbles(__m256i bytes) { return _mm256_and_si256(bytes, _mm256_set1_epi8(15)); }
inline __m256i high_nibbles(__m256i bytes) { return low_nibbles(_mm256_srli_epi16(bytes, 4)); }

// 16 bytes as the low nibbles of all, then the high ones.
inline __m256i nibbles_32(const uint8_t * from) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *) from);
    return low_nibbles(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes));
}

// 32 bits as the given bit of 32 bytes.
inline __m256i spread_bits(const uint8_t * from, char bit) {
    const __m256i at = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i each = _mm256_set1_epi64x((int64_t) 0x8040201008040201);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(four_bytes(from)), at);
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, each), each), _mm256_set1_epi8(bit));
}

// The 8 scales and 8 minimums of 6 bits each that Q4_K and Q5_K store in 12 bytes.
inline __m256i six_bit_scales(const uint8_t * from) {
    uint32_t word[3];
    memcpy(word, from, sizeof(word));
    const uint32_t low_4 = 0x0f0f0f0f, low_6 = 0x3f3f3f3f, top_2 = 0x30303030;
    return _mm256_cvtepu8_epi16(_mm_setr_epi32((int) (word[0] & low_6),
                                               (int) ((word[2] & low_4) | (word[0] >> 2 & top_2)),
                                               (int) (word[1] & low_6),
                                               (int) ((word[2] >> 4 & low_4) | (word[1] >> 2 & top_2))));
}

struct small_block {
    static constexpr int  columns      = 32;
    static constexpr int  sub_blocks   = 1;
    static constexpr bool has_minimums = false;
};

template <int count> struct super_block {
    static constexpr int  columns      = QK_K;
    static constexpr int  sub_blocks   = count;
    static constexpr bool has_minimums = false;
};

struct q8_0 : small_block {
    using block = block_q8_0;
    static constexpr int offset = 128, largest = 255;
    static __m256i weights(const block * b, int) { return _mm256_xor_si256(load_32(b->qs), _mm256_set1_epi8((char) 0x80)); }
    static float   scale(const block * b) { return to_float(b->d); }
};

struct q5_0 : small_block {
    using block = block_q5_0;
    static constexpr int offset = 16, largest = 31;
    static __m256i weights(const block * b, int) { return _mm256_or_si256(nibbles_32(b->qs), spread_bits(b->qh, 16)); }
    static float   scale(const block * b) { return to_float(b->d); }
};

struct q3_K : super_block<16> {
    using block = block_q3_K;
    static constexpr int offset = 4, largest = 7;
    static __m256i weights(const block * b, int j) {
        const __m256i one  = _mm256_set1_epi8(1);
        const __m256i low  = _mm256_and_si256(_mm256_srli_epi16(load_32(b->qs + j/4*32), j%4*2), _mm256_set1_epi8(3));
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(load_32(b->hmask), j), one);
        return _mm256_or_si256(low, _mm256_slli_epi16(high, 2));
    }
    static float   scale(const block * b) { return to_float(b->d); }
    static __m256i scales(const block * b) {
        uint32_t word[3];
        memcpy(word, b->scales, sizeof(word));
        const uint32_t low_4 = 0x0f0f0f0f, top_2 = 0x30303030;
        const __m128i bytes = _mm_setr_epi32((int) ((word[0] & low_4) | (word[2] << 4 & top_2)),
                                             (int) ((word[1] & low_4) | (word[2] << 2 & top_2)),
                                             (int) ((word[0] >> 4 & low_4) | (word[2] & top_2)),
                                             (int) ((word[1] >> 4 & low_4) | (word[2] >> 2 & top_2)));
        return _mm256_cvtepi8_epi16(_mm_sub_epi8(bytes, _mm_set1_epi8(32)));
    }
};

struct q4_K : super_block<8> {
    using block = block_q4_K;
    static constexpr int  offset = 0, largest = 15;
    static constexpr bool has_minimums = true;
    static __m256i weights(const block * b, int j) {
        const __m256i bytes = load_32(b->qs + j/2*32);
        return j%2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes);
    }
    static float   scale(const block * b) { return to_float(b->GGML_COMMON_AGGR_U.GGML_COMMON_AGGR_S.d); }
    static float   minimum(const block * b) { return to_float(b->GGML_COMMON_AGGR_U.GGML_COMMON_AGGR_S.dmin); }
    static __m256i scales(const block * b) { return six_bit_scales(b->scales); }
};

struct q5_K : super_block<8> {
    using block = block_q5_K;
    static constexpr int  offset = 0, largest = 31;
    static constexpr bool has_minimums = true;
    static __m256i weights(const block * b, int j) {
        const __m256i bytes = load_32(b->qs + j/2*32);
        const __m256i high  = _mm256_and_si256(_mm256_srli_epi16(load_32(b->qh), j), _mm256_set1_epi8(1));
        return _mm256_or_si256(j%2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes), _mm256_slli_epi16(high, 4));
    }
    static float   scale(const block * b) { return to_float(b->GGML_COMMON_AGGR_U.GGML_COMMON_AGGR_S.d); }
    static float   minimum(const block * b) { return to_float(b->GGML_COMMON_AGGR_U.GGML_COMMON_AGGR_S.dmin); }
    static __m256i scales(const block * b) { return six_bit_scales(b->scales); }
};

struct q6_K : super_block<16> {
    using block = block_q6_K;
    static constexpr int offset = 32, largest = 63;
    static __m256i weights(const block * b, int j) {
        const __m256i bytes = load_32(b->ql + j/4*64 + j%2*32);
        const __m256i high  = _mm256_and_si256(_mm256_srli_epi16(load_32(b->qh + j/4*32), j%4*2), _mm256_set1_epi8(3));
        return _mm256_or_si256(j%4 < 2 ? low_nibbles(bytes) : high_nibbles(bytes), _mm256_slli_epi16(high, 4));
    }
    static float   scale(const block * b) { return to_float(b->d); }
    static __m256i scales(const block * b) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) b->scales)); }
};

} // namespace
