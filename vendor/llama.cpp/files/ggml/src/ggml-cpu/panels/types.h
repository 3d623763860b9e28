// The weight types that products by panels support.
#pragma once

#include "vectors.h"

namespace {

// A type has these for a block of weights:
// - `weights(blocks, j)`: those from 32*j on as unsigned bytes, greater than their values by `offset` and not above `largest`; with an
//   `offset` of 0, a type whose `largest` is above 127 has signed bytes;
// - `packed_at` and `packed`, where `weights` takes 4 of each 32 from the same 4 bytes of those at `packed_at`: their number;
// - `scale_at`, where a block has a float of 16 bits for all of them, or, without `has_half_scale`, a `scale(block)` of 32 bits;
// - `scale_factor`, a power of two, by which that float is multiplied;
// - with several sub-blocks, `scales(blocks)`: 16 integers of 16 bits, which are the scales of 16 sub-blocks, or those of 8 and then,
//   with `has_minimums`, 8 that are subtracted as often as another float, which follows the scale, says; or, with `has_byte_scales`,
//   the same integers as `scale_bytes(blocks)`, of 8 bits;
// - with 16 sub-blocks and `has_minimums`, `minimum_bytes(blocks)`: as many of them.
// - with `has_signs`, instead of `weights`: `magnitudes(blocks)` and `signs(blocks)`, whose `of(j)` are those from 32*j on;
// - `rows_min`: with fewer rows of inputs, upstream's products are faster.
// `blocks` are those that a vector holds, or the columns of a panel.

inline ints low_nibbles(ints bytes) { return both(bytes, all_bytes(15)); }
inline ints high_nibbles(ints bytes) { return low_nibbles(shift_right(bytes, 4)); }

// 16 bytes as the low nibbles of all, then the high ones.
template <class B> inline ints nibbles_32(const together<B> & blocks, size_t at) {
    return low_nibbles(shift_right_each(each_16_twice(blocks, at), each_row_32(0, 0, 4, 4)));
}

template <size_t first> inline ints nibbles_32(const columns<first> & from, size_t at) {
    const ints bytes = from.each[(at - first)/4 + from.of_32%4];
    return low_nibbles(from.of_32 < 4 ? bytes : shift_right(bytes, 4));
}

// 32 bits as bit 4 of 32 bytes.
template <class B> inline ints spread_bits(const together<B> & blocks, size_t from) {
    const ints bytes = pick_bytes(all_4(blocks, from), each_row_32(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
    const int64_t each = (int64_t) 0x8040201008040201;
#ifdef PANELS_OF_16
    return _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(bytes, _mm512_set1_epi64(each)), 16);
#else
    const ints bits = _mm256_set1_epi64x(each);
    return both(_mm256_cmpeq_epi8(both(bytes, bits), bits), all_bytes(16));
#endif
}

constexpr int low_4 = 0x0f0f0f0f, low_6 = 0x3f3f3f3f, top_2 = 0x30303030;

// The 8 scales and 8 minimums of 6 bits each that Q4_K and Q5_K store in bytes 4 to 15.
template <class S> inline auto six_bit_scales(const S & blocks) {
    const auto bytes = load_16(blocks, 0);
    const auto first = both(shift_fours(pick_fours<0xa5>(bytes), fours{}, fours{0, 2, 0, 2}), fours{low_6, top_2, low_6, top_2});
    const auto last  = both(shift_fours(pick_fours<0xff>(bytes), fours{}, fours{0, 0, 0, 4}), fours{0, low_4, 0, low_4});
    return either(first, last);
}

// 8 integers of 32 bits as those of 16 bits, and 8 zeros.
inline ints first_pairs(ints each) { return pick_words<0xd8>(pack_fours(each, all(0))); }

// By how much 32 bits are shifted so that each lane has another nibble last.
inline ints nibble_shifts() { return each_row_32(0x400000000, 0xc00000008, 0x1400000010, 0x1c00000018); }

struct small_block {
    static constexpr int   columns        = 32;
    static constexpr int   sub_blocks     = 1;
    static constexpr bool  has_minimums   = false;
    static constexpr bool  has_signs      = false;
    static constexpr bool  has_half_scale = true;
    static constexpr float scale_factor   = 1;
    static constexpr bool  has_byte_scales = false;
    static constexpr int   packed         = 0, packed_at = 0;
    static constexpr int   rows_min       = 1;
};

template <int count> struct super_block {
    static constexpr int   columns        = QK_K;
    static constexpr int   sub_blocks     = count;
    static constexpr bool  has_minimums   = false;
    static constexpr bool  has_signs      = false;
    static constexpr bool  has_half_scale = true;
    static constexpr float scale_factor   = 1;
    static constexpr bool  has_byte_scales = false;
    static constexpr int   packed         = 0, packed_at = 0;
    static constexpr int   rows_min       = 1;
};

struct q8_0 : small_block {
    using block = block_q8_0;
    static constexpr int offset = 128, largest = 255;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 32;
    template <class S> static ints weights(const S & b, int) { return subtract_bytes(load_32(b, offsetof(block, qs)), all_bytes((char) 0x80)); }
    static constexpr size_t scale_at = offsetof(block, d);
};

struct q4_0 : small_block {
    using block = block_q4_0;
    static constexpr int offset = 8, largest = 15;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 16;
    template <class S> static ints weights(const S & b, int) { return nibbles_32(b, offsetof(block, qs)); }
    static constexpr size_t scale_at = offsetof(block, d);
};

struct q5_0 : small_block {
    using block = block_q5_0;
    static constexpr int offset = 16, largest = 31;
    static ints  weights(const together<block> & b, int) {
        return either(nibbles_32(b, offsetof(block, qs)), spread_bits(b, offsetof(block, qh)));
    }
    static constexpr size_t scale_at = offsetof(block, d);
};

// The 16 values that the nibbles of IQ4_NL and IQ4_XS stand for. They use 8 bits, so without VNNI they are signed.
struct iq4_values {
    static constexpr int offset = has_vnni ? 127 : 0, largest = 240;
    static ints of(ints nibbles) {
        const __m128i values = _mm_loadu_si128((const __m128i *) kvalues_iq4nl);
        return pick_bytes(each_row_16(_mm_add_epi8(values, _mm_set1_epi8(offset))), nibbles);
    }
};

struct iq4_nl : small_block, iq4_values {
    using block = block_iq4_nl;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 16;
    template <class S> static ints weights(const S & b, int) { return of(nibbles_32(b, offsetof(block, qs))); }
    static constexpr size_t scale_at = offsetof(block, d);
};

struct iq4_xs : super_block<8>, iq4_values {
    using block = block_iq4_xs;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 128;
    template <class S> static ints weights(const S & b, int j) { return of(nibbles_32(b, offsetof(block, qs) + 16*j)); }
    static constexpr size_t scale_at = offsetof(block, d);
    // 4 bits of each, and then, in 16 bits, 2 higher ones of each.
    static ints scales(const together<block> & b) {
        const ints low  = shift_right_fours(all_4(b, offsetof(block, scales_l)), nibble_shifts());
        const ints high = shift_right_fours(all_4(b, offsetof(block, scales_h) - 2),
                                            each_row_32(0xe0000000c, 0x1200000010, 0x1600000014, 0x1a00000018));
        return first_pairs(subtract(either(both(low, all(15)), both(high, all(0x30))), all(32)));
    }
};

// Nibbles are floats of 4 bits, here doubled; the scale is an exponent.
struct mxfp4 : small_block {
    using block = block_mxfp4;
    static constexpr int  offset = 12, largest = 24;
    static constexpr bool has_half_scale = false;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 16;
    template <class S> static ints weights(const S & b, int) {
        const __m128i values = _mm_loadu_si128((const __m128i *) kvalues_mxfp4);
        return pick_bytes(each_row_16(_mm_add_epi8(values, _mm_set1_epi8(offset))), nibbles_32(b, offsetof(block, qs)));
    }
    static float scale(const block & b) { return GGML_E8M0_TO_FP32_HALF(b.e); }
};

struct q2_K : super_block<16> {
    using block = block_q2_K;
    static constexpr int  offset = 0, largest = 3;
    static constexpr bool has_minimums = true;
    static constexpr bool has_byte_scales = true;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 64;
    template <class S> static ints weights(const S & b, int j) {
        return both(shift_right(load_32(b, offsetof(block, qs) + j/4*32), j%4*2), all_bytes(3));
    }
    static constexpr size_t scale_at = offsetof(block, qs) + sizeof(block::qs);
    template <class S> static auto scale_bytes(const S & b) {
        return both(load_16(b, offsetof(block, scales)), fours{low_4, low_4, low_4, low_4});
    }
    template <class S> static auto minimum_bytes(const S & b) {
        return both(shift_fours(load_16(b, offsetof(block, scales)), fours{}, fours{4, 4, 4, 4}), fours{low_4, low_4, low_4, low_4});
    }
};

struct q3_K : super_block<16> {
    using block = block_q3_K;
    static constexpr int offset = 4, largest = 7;
    static constexpr bool has_byte_scales = true;
    static constexpr size_t packed_at = offsetof(block, hmask);
    static constexpr int    packed = 96;
    template <class S> static ints weights(const S & b, int j) {
        const ints low  = both(shift_right(load_32(b, offsetof(block, qs) + j/4*32), j%4*2), all_bytes(3));
        const ints high = both(shift_right(load_32(b, offsetof(block, hmask)), j), all_bytes(1));
        return either(low, shift_left(high, 2));
    }
    static constexpr size_t scale_at = offsetof(block, d);
    template <class S> static auto scale_bytes(const S & b) {
        // Loaded with the 4 bytes before them, because fewer bytes of the block follow them.
        const auto bytes = load_16(b, offsetof(block, scales) - 4);
        const auto low   = both(shift_fours(pick_fours<0x99>(bytes), fours{}, fours{0, 0, 4, 4}), fours{low_4, low_4, low_4, low_4});
        const auto high  = both(shift_fours(pick_fours<0xff>(bytes), fours{4, 2, 0, 0}, fours{0, 0, 0, 2}), fours{top_2, top_2, top_2, top_2});
        constexpr int offsets = 0x20202020; // 32 in each byte
        return subtract_bytes(either(low, high), fours{offsets, offsets, offsets, offsets});
    }
};

struct q4_K : super_block<8> {
    using block = block_q4_K;
    static constexpr int  offset = 0, largest = 15;
    static constexpr bool has_minimums = true;
    static constexpr bool has_byte_scales = true;
    static constexpr size_t packed_at = offsetof(block, qs);
    static constexpr int    packed = 128;
    template <class S> static ints weights(const S & b, int j) {
        const ints bytes = load_32(b, offsetof(block, qs) + j/2*32);
        return j%2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes);
    }
    static constexpr size_t scale_at = 0;
    template <class S> static auto scale_bytes(const S & b) { return six_bit_scales(b); }
};

struct q5_K : super_block<8> {
    using block = block_q5_K;
    static constexpr int  offset = 0, largest = 31;
    static constexpr bool has_minimums = true;
    static constexpr bool has_byte_scales = true;
    static constexpr size_t packed_at = offsetof(block, qh);
    static constexpr int    packed = 160;
    template <class S> static ints weights(const S & b, int j) {
        const ints bytes = load_32(b, offsetof(block, qs) + j/2*32);
        const ints high  = both(shift_right(load_32(b, offsetof(block, qh)), j), all_bytes(1));
        return either(j%2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes), shift_left(high, 4));
    }
    static constexpr size_t scale_at = 0;
    template <class S> static auto scale_bytes(const S & b) { return six_bit_scales(b); }
};

struct q6_K : super_block<16> {
    using block = block_q6_K;
    static constexpr int offset = 32, largest = 63;
    static constexpr bool has_byte_scales = true;
    static constexpr size_t packed_at = offsetof(block, ql);
    static constexpr int    packed = 192;
    template <class S> static ints weights(const S & b, int j) {
        const ints bytes = load_32(b, offsetof(block, ql) + j/4*64 + j%2*32);
        const ints high  = both(shift_right(load_32(b, offsetof(block, qh) + j/4*32), j%4*2), all_bytes(3));
        return either(j%4 < 2 ? low_nibbles(bytes) : high_nibbles(bytes), shift_left(high, 4));
    }
    static constexpr size_t scale_at = offsetof(block, d);
    template <class S> static auto scale_bytes(const S & b) { return load_16(b, offsetof(block, scales)); }
};

} // namespace
