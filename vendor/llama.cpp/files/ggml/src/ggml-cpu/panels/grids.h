// The weight types whose groups of 4 or 8 weights are indices of a table: a grid of the values that such a group may have.
#pragma once

#include "types.h"

namespace {

// 8 bytes from each of four places in each block: `of(block, i)` is the i-th.
template <class B, class F> inline ints four_eights(const together<B> & blocks, F of) {
    const auto four = [&](const B & b) { return _mm256_setr_epi64x(of(b, 0), of(b, 1), of(b, 2), of(b, 3)); };
#ifdef PANELS_OF_16
    return join(four(*blocks.each[0]), four(*blocks.each[1]));
#else
    return four(*blocks.each[0]);
#endif
}

// One row of inputs is multiplied with decoded weights only where signs are decoded in vectors; elsewhere upstream's products, which
// multiply the inputs by the signs, are as fast or faster.
#if defined(PANELS_OF_16) && defined(__GFNI__) && defined(__AVX512VBMI__)
#define PANELS_HAVE_PARITY
constexpr int even_signs_rows_min = 1;
#else
constexpr int even_signs_rows_min = 2;
#endif

inline int64_t pair_of(uint32_t first, uint32_t second) { return (int64_t) (first | (uint64_t) second << 32); }

inline uint32_t bits_at(const void * from) { return (uint32_t) four_bytes(from); }

inline uint64_t eight_bytes(const void * from) {
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

// From 32 bits of each block, the signs of its 32 weights.
#ifdef PANELS_OF_16
using signs = __mmask64;
template <class B, class F> inline signs signs_of(const together<B> & blocks, F of) {
    return of(*blocks.each[0]) | (uint64_t) of(*blocks.each[1]) << 32;
}
// `offset` and the values with their signs.
inline ints with_signs(ints values, signs negative, int offset) {
    return _mm512_mask_sub_epi8(_mm512_add_epi8(all_bytes((char) offset), values), negative, all_bytes((char) offset), values);
}
#else
using signs = __m256i;
template <class B, class F> inline signs signs_of(const together<B> & blocks, F of) {
    return bytes_with_bits(_mm256_set1_epi32((int32_t) of(*blocks.each[0])));
}
inline ints with_signs(ints values, signs negative, int offset) {
    return _mm256_add_epi8(_mm256_xor_si256(values, negative), subtract_bytes(all_bytes((char) offset), negative));
}
#endif

// The same from four fields of 7 bits each, the first of them at bit `first` of 64 and the others `step` bits apart: the eighth sign
// makes the number of negative ones even.
template <int first, int step, class B, class F> inline signs even_signs_of(const together<B> & blocks, F of) {
#ifdef PANELS_HAVE_PARITY
    constexpr int64_t from = first*0x0101010101010101, by = step*0x0101010101010101;
    const __m512i fields = join(_mm256_set1_epi64x(of(*blocks.each[0])), _mm256_set1_epi64x(of(*blocks.each[1])));
    const __m512i bytes  = _mm512_multishift_epi64_epi8(each_row_32(from, from + by, from + 2*by, from + 3*by), fields);
    // Bit i of each result is the parity of a field and row i of the matrix; the eighth row adds up the seven.
    return _mm512_movepi8_mask(_mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(0x7f40201008040201), bytes, 0));
#else
    return signs_of(blocks, [&](const B & b) {
        const uint64_t v = of(b) >> first;
        const auto fields = (uint32_t) ((v & 0x7f) | (v >> step & 0x7f) << 8 | (v >> 2*step & 0x7f) << 16 | (v >> 3*step & 0x7f) << 24);
        uint32_t parity = fields ^ fields >> 4;
        parity ^= parity >> 2;
        parity ^= parity >> 1;
        return fields | (parity & 0x01010101) << 7;
    });
#endif
}

// Scales are stored as half of what is above 1.
inline ints odd(ints scales) { return add(add(scales, scales), all(1)); }
inline ints odd_pairs(ints scales) { return either(shift_left(scales, 1), all_pairs(1)); }

// From 8 bytes at the end of a block: the lower and the upper nibble of each.
template <class B> inline ints nibble_scales(const together<B> & blocks, size_t at) {
    const half_ints bytes = load_16(blocks, at - 8); // fewer bytes of the block follow
    const half_ints high  = shift_fours(bytes, fours{}, fours{4, 4, 4, 4});
    return odd_pairs(both(widen(interleave_high(bytes, high)), all_pairs(15)));
}

struct iq2_xxs : super_block<8> {
    using block = block_iq2_xxs;
    static constexpr int    rows_min = even_signs_rows_min;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    // For 32 weights, four bytes are indices, and then four are signs and a scale.
    static ints weights(const together<block> & b, int j) {
        const auto bits   = [&](const block & of) { return eight_bytes(of.qs + 4*j); };
        const ints values = four_eights(b, [&](const block & of, int i) { return (int64_t) iq2xxs_grid[bits(of) >> 8*i & 255]; });
        return with_signs(values, even_signs_of<32, 7>(b, bits), offset);
    }
    static ints scales(const together<block> & b) {
        const ints each = odd_lanes(load_32(b, offsetof(block, qs)), load_32(b, offsetof(block, qs) + 32));
        return first_pairs(odd(shift_right_fours(each, all(28))));
    }
};

struct iq2_xs : super_block<16> {
    using block = block_iq2_xs;
    static constexpr int    rows_min = even_signs_rows_min;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    // 9 bits are an index, and 7 are signs.
    static ints weights(const together<block> & b, int j) {
        const auto bits   = [&](const block & of) { return eight_bytes(of.qs + 4*j); };
        const ints values = four_eights(b, [&](const block & of, int i) { return (int64_t) iq2xs_grid[bits(of) >> 16*i & 511]; });
        return with_signs(values, even_signs_of<9, 16>(b, bits), offset);
    }
    static ints scales(const together<block> & b) { return nibble_scales(b, offsetof(block, scales)); }
};

struct iq2_s : super_block<16> {
    using block = block_iq2_s;
    static constexpr int    rows_min = 2;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    static ints weights(const together<block> & b, int j) {
        const ints values = four_eights(b, [&](const block & of, int i) {
            return (int64_t) iq2s_grid[of.qs[4*j + i] | (of.qh[j] << (8 - 2*i) & 0x300)];
        });
        return with_signs(values, signs_of(b, [&](const block & of) { return bits_at(of.qs + QK_K/8 + 4*j); }), offset);
    }
    static ints scales(const together<block> & b) { return nibble_scales(b, offsetof(block, scales)); }
};

struct iq3_xxs : super_block<8> {
    using block = block_iq3_xxs;
    static constexpr int    rows_min = even_signs_rows_min;
    static constexpr int    offset = 62, largest = 124;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/4;
    static constexpr int    signs_at = QK_K/4; // and scales, in `qs`
    static ints weights(const together<block> & b, int j) {
        const ints values = four_eights(b, [&](const block & of, int i) {
            const uint8_t * from = of.qs + 8*j + 2*i;
            return pair_of(iq3xxs_grid[from[0]], iq3xxs_grid[from[1]]);
        });
        return with_signs(values, even_signs_of<0, 7>(b, [&](const block & of) { return (uint64_t) bits_at(of.qs + signs_at + 4*j); }), offset);
    }
    static ints scales(const together<block> & b) {
        return first_pairs(odd(shift_right_fours(load_32(b, offsetof(block, qs) + signs_at), all(28))));
    }
};

struct iq3_s : super_block<8> {
    using block = block_iq3_s;
    static constexpr int    rows_min = 2;
    static constexpr int    offset = 15, largest = 30;
    static constexpr size_t scale_at = offsetof(block, d);
    static ints weights(const together<block> & b, int j) {
        const ints values = four_eights(b, [&](const block & of, int i) {
            const uint8_t * from = of.qs + 8*j + 2*i;
            const int high = of.qh[j];
            return pair_of(iq3s_grid[from[0] | (high << (8 - 2*i) & 256)], iq3s_grid[from[1] | (high << (7 - 2*i) & 256)]);
        });
        return with_signs(values, signs_of(b, [&](const block & of) { return bits_at(of.signs + 4*j); }), offset);
    }
    static ints scales(const together<block> & b) {
        return first_pairs(odd(both(shift_right_fours(all_4(b, offsetof(block, scales)), nibble_shifts()), all(15))));
    }
};

// Eight times a value, which is -1, 0 or 1, and 1 more or less.
struct iq1_values {
    static constexpr int   offset = 9, largest = 18;
    static constexpr float scale_factor = 1.0f/8;
    static ints of(ints values, ints additions) { return add_bytes(both(shift_left(values, 3), all_bytes((char) 0xf8)), additions); }
    // 10, or 8 where a bit is set: of 32 bits, beside 32 that are the same, for each 8 weights.
    template <class B> static ints additions(const together<B> & b, size_t at, ints before) {
        const ints eights = shift_right_each(all_4(b, at), before);
        const ints each   = pick_bytes(eights, each_row_32(0, 0x0808080808080808, 0, 0x0808080808080808));
        return subtract_bytes(all_bytes(10), both(each, all_bytes(2)));
    }
};

struct iq1_s : super_block<8>, iq1_values {
    using block = block_iq1_s;
    static constexpr int    rows_min = 2;
    using iq1_values::scale_factor;
    static constexpr size_t scale_at = offsetof(block, d);
    // 16 bits of `qh`: 3 higher ones for each of four indices, 3 of a scale, and a sign.
    static ints weights(const together<block> & b, int j) {
        const ints values = four_eights(b, [&](const block & from, int i) {
            return (int64_t) iq1s_grid[from.qs[4*j + i] | (from.qh[j] >> 3*i & 7) << 8];
        });
        return of(values, additions(b, offsetof(block, qh) + 2*j - 2, each_row_32(30, 30, 30, 30)));
    }
    static ints scales(const together<block> & b) {
        const ints each = both(shift_right(each_16_twice(b, offsetof(block, qh)), 12), all_pairs(7));
        return both(odd_pairs(each), each_row_32(-1, -1, 0, 0));
    }
};

struct iq1_m : super_block<16>, iq1_values {
    using block = block_iq1_m;
    static constexpr int    rows_min = 2;
    using iq1_values::scale_factor;
    static constexpr bool has_half_scale = false;
    // A nibble of `qh`: 3 higher bits of an index, and a sign.
    static ints weights(const together<block> & b, int j) {
        const ints values = four_eights(b, [&](const block & from, int i) {
            return (int64_t) iq1s_grid[from.qs[4*j + i] | (from.qh[2*j + i/2] >> i%2*4 & 7) << 8];
        });
        return of(values, additions(b, offsetof(block, qh) + 2*j, each_row_32(2, 6, 10, 14)));
    }
    // In each 16 bits, four scales of 3 bits, and 4 bits of the block's.
    static ints scales(const together<block> & b) {
        const ints each  = pick_bytes(each_16_twice(b, offsetof(block, scales) - 8),
                                      each_row_32(0x0908090809080908, 0x0b0a0b0a0b0a0b0a, 0x0d0c0d0c0d0c0d0c, 0x0f0e0f0e0f0e0f0e));
        const ints to_top = each_row_32(0x0010008004002000, 0x0010008004002000, 0x0010008004002000, 0x0010008004002000);
        return odd_pairs(shift_right(multiply_pairs(each, to_top), 13));
    }
    static float scale(const block & b) {
        uint16_t parts[4];
        memcpy(parts, b.scales, sizeof(parts));
        const uint16_t half = (uint16_t) (parts[0] >> 12 | (parts[1] >> 8 & 0x00f0) | (parts[2] >> 4 & 0x0f00) | (parts[3] & 0xf000));
        return to_float(&half);
    }
};

} // namespace
