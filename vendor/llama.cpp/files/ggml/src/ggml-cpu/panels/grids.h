// The weight types whose groups of 4 or 8 weights are indices of a table: a grid of the values that such a group may have.
#pragma once

#include "types.h"

#include <algorithm>
#include <iterator>

#if defined(PANELS_OF_16) && defined(__AVX512VBMI__)
#define PANELS_HAVE_VBMI
#endif

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

// 4 bytes from each of eight places in each block.
template <class B, class F> inline ints eight_fours(const together<B> & blocks, F of) {
    const auto eight = [&](const B & b) {
        return _mm256_setr_epi32(of(b, 0), of(b, 1), of(b, 2), of(b, 3), of(b, 4), of(b, 5), of(b, 6), of(b, 7));
    };
#ifdef PANELS_OF_16
    return join(eight(*blocks.each[0]), eight(*blocks.each[1]));
#else
    return eight(*blocks.each[0]);
#endif
}

inline int64_t eight_bytes(const void * from) {
    int64_t value;
    memcpy(&value, from, sizeof(value));
    return value;
}

#ifdef PANELS_HAVE_VBMI

// The magnitudes of two blocks of 256 weights.
struct magnitudes_of {
    ints each[8];
    ints of(int j) const { return each[j]; }
};

// 16 bytes of the first row, whose last 16 bytes are greater by `upper`, and those of the second row by `second`.
inline ints four_lanes(uint64_t a, uint64_t b, uint64_t upper, uint64_t second) {
    return _mm512_setr_epi64(a, b, a + upper, b + upper, a + second, b + second, a + upper + second, b + upper + second);
}

// A grid that is looked up in vectors, as codes of 16 bits: for each of an entry's 4 or 8 weights, in 3 or 2 bits, which magnitude
// it has.
template <int entries, int weights> class grid_codes {
    static constexpr int bits = weights == 4 ? 3 : 2;

public:
    template <class E> grid_codes(const E (&grid)[entries], const uint8_t (&magnitudes)[1 << bits]) {
        for (int i = 0; i < 64; ++i) {
            magnitude[i] = magnitudes[i%(1 << bits)];
        }
        for (int i = 0; i < entries; ++i) {
            int code = 0;
            for (int k = 0; k < weights; ++k) {
                const auto * place = std::find(magnitudes, std::end(magnitudes), (uint8_t) (grid[i] >> 8*k));
                GGML_ASSERT(place != std::end(magnitudes));
                code |= (int) (place - magnitudes) << bits*k;
            }
            low[i]  = (uint8_t) code;
            high[i] = (uint8_t) (code >> 8);
        }
    }

    // The weights of 64 entries, for whose indices `ninth` and `tenth` are the bits that a byte has no place for. In each 16 bytes,
    // a vector has the weights of 2 or 4 entries, and the next vector those of the next ones.
    void look_up(ints indices, __mmask64 ninth, __mmask64 tenth, ints * to) const {
        const __mmask64 upper[] = {_mm512_movepi8_mask(indices), ninth, tenth};
        const ints lows = in_part<entries>(low, indices, upper), highs = in_part<entries>(high, indices, upper);
        const ints codes[] = {_mm512_unpacklo_epi8(lows, highs), _mm512_unpackhi_epi8(lows, highs)};
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            if constexpr (weights == 4) {
                to[2*half]     = decoded(_mm512_unpacklo_epi16(codes[half], codes[half]));
                to[2*half + 1] = decoded(_mm512_unpackhi_epi16(codes[half], codes[half]));
            } else {
#pragma GCC unroll 4
                for (int k = 0; k < 4; ++k) {
                    const int64_t first = 0x0100010001000100 + k*0x0404040404040404, next = first + 0x0202020202020202;
                    to[4*half + k] = decoded(pick_bytes(codes[half], each_row_32(first, next, first, next)));
                }
            }
        }
    }

private:
    // Of so many entries at `table`.
    template <int count> static ints in_part(const uint8_t * table, ints indices, const __mmask64 * upper) {
        if constexpr (count == 128) {
            return _mm512_permutex2var_epi8(load(table), indices, load(table + 64));
        } else {
            constexpr int half = count/2, bit = count == 256 ? 0 : count == 512 ? 1 : 2;
            return _mm512_mask_mov_epi8(in_part<half>(table, indices, upper), upper[bit], in_part<half>(table + half, indices, upper));
        }
    }

    // A code stands in each 32 or 64 bits.
    ints decoded(ints codes) const {
        const ints places = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(weights == 4 ? 0x2926232009060300 : 0x0e0c0a0806040200), codes);
        return _mm512_permutexvar_epi8(places, load(magnitude)); // by their lower 6 bits
    }

    alignas(line_size) uint8_t low[entries];
    alignas(line_size) uint8_t high[entries];
    alignas(line_size) uint8_t magnitude[64];
};

// The same 8 bytes of each block for both of its rows of 16 bytes, at these places.
inline ints spread(int64_t first, int64_t second, int64_t a, int64_t b) {
    return pick_bytes(join(_mm256_set1_epi64x(first), _mm256_set1_epi64x(second)), each_row_32(a, b, a, b));
}

// Of two blocks with 64 indices each.
template <class F> inline magnitudes_of look_up_fours(ints first, ints second, F look_up) {
    magnitudes_of found;
    look_up(_mm512_permutex2var_epi32(first, _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 16, 18, 20, 22, 17, 19, 21, 23), second), 0, found.each);
    look_up(_mm512_permutex2var_epi32(first, _mm512_setr_epi32(8, 10, 12, 14, 9, 11, 13, 15, 24, 26, 28, 30, 25, 27, 29, 31), second), 4, found.each + 4);
    return found;
}

#else

// Magnitudes that are looked up as they are needed.
template <class F> class magnitudes_of {
public:
    explicit magnitudes_of(F look_up) : look_up(look_up) {}
    ints of(int j) const { return look_up(j); }

private:
    F look_up;
};

#endif

// The signs of a block's 256 weights, from as many bits.
#ifdef PANELS_OF_16

class signs_of {
public:
    signs_of() = default;
    explicit signs_of(ints bits) {
        store(negative, pick_lanes(bits, _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15)));
    }

    __mmask64 of(int j) const { return negative[j]; }

private:
    uint64_t negative[8];
};

inline ints with_signs(ints bytes, __mmask64 negative) { return _mm512_mask_sub_epi8(bytes, negative, all(0), bytes); }

#else

class signs_of {
public:
    signs_of() = default;
    explicit signs_of(ints bits) {
        // Bytes for the first 16 of each 32 weights, and then for the last ones.
        const ints words = each_row_32(0x0d0c090805040100, 0x0f0e0b0a07060302, 0x0d0c090805040100, 0x0f0e0b0a07060302);
        const ints bytes = pick_words<0xd8>(pick_bytes(bits, words));
        const ints moved = add_bytes(bytes, bytes);
        first = unpack_low_8(bytes, moved);
        last  = unpack_high_8(bytes, moved);
    }

    // Bytes with these signs, none of which is 0: half of a bit less the bit, where it is set. The lowest bit has no half, so it is
    // taken from the bytes that were moved up by one.
    ints of(int j) const {
        const int64_t at = 0x08 + 0x0202020202020202*(j%4), next = at + 0x0101010101010101;
        const ints each = pick_bytes(j < 4 ? first : last, each_row_32(at, next, at, next));
        const ints bits = _mm256_set1_epi64x((int64_t) 0x8040201008040202);
        return subtract_bytes(_mm256_set1_epi64x(0x4020100804020101), both(each, bits));
    }

private:
    ints first, last; // in each half, 8 bytes for four times 16 weights, and then the same moved up by one bit
};

inline ints with_signs(ints bytes, ints signs) { return _mm256_sign_epi8(bytes, signs); }

#endif

// Bytes of 7 bits, with an eighth one that makes the number of bits that are set even.
inline ints even_bytes(ints bytes) {
#if defined(PANELS_OF_16) && defined(__GFNI__)
    // Bit i is the parity of the byte and row i of the matrix; the eighth row adds up the seven.
    return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_set1_epi64(0x010204081020407f), 0);
#else
    // 0x80 where the number of an index's bits is odd.
    const int64_t a = (int64_t) 0x8000008000808000, b = 0x0080800080000080;
    const ints odd  = each_row_32(a, b, a, b);
    const ints high = both(shift_right(bytes, 4), all_bytes(7));
    return one_of(bytes, one_of(pick_bytes(odd, bytes), pick_bytes(odd, high)));
#endif
}

// The same from the lower 28 of each 32 bits.
inline ints even_bytes_of_28(ints bits) {
#ifdef PANELS_HAVE_VBMI
    return even_bytes(both(_mm512_multishift_epi64_epi8(_mm512_set1_epi64(0x352e2720150e0700), bits), all_bytes(0x7f)));
#else
    const ints pairs = either(both(bits, all(0x3fff)), both(shift_left_fours(bits, 2), all(0x3fff0000)));
    return even_bytes(either(both(pairs, all_pairs(0x7f)), both(shift_left(pairs, 1), all_pairs(0x7f00))));
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
    static constexpr bool   has_signs = true;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    // For 32 weights, four bytes are indices, and then four are signs and a scale.
    static auto magnitudes(const together<block> & b) {
#ifdef PANELS_HAVE_VBMI
        static const grid_codes<256, 8> codes(iq2xxs_grid, {8, 25, 43, 0});
        const ints at = four_lanes(0x000c000800040000, 0x001c001800140010, 0x0001000100010001, 0x0020002000200020);
        magnitudes_of found;
        codes.look_up(_mm512_permutex2var_epi16(load(b.each[0]->qs), at, load(b.each[1]->qs)), 0, 0, found.each);
        return found;
#else
        return magnitudes_of([b](int j) {
            return four_eights(b, [&](const block & of, int i) { return (int64_t) iq2xxs_grid[((const uint8_t *) (of.qs + 4*j))[i]]; });
        });
#endif
    }
    static signs_of signs(const together<block> & b) { return signs_of(even_bytes_of_28(signs_and_scales(b))); }
    static ints scales(const together<block> & b) { return first_pairs(odd(shift_right_fours(signs_and_scales(b), all(28)))); }
    static ints signs_and_scales(const together<block> & b) {
        return odd_lanes(load_32(b, offsetof(block, qs)), load_32(b, offsetof(block, qs) + 32));
    }
};

struct iq2_xs : super_block<16> {
    using block = block_iq2_xs;
    static constexpr bool   has_signs = true;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    // 9 bits are an index, and 7 are signs.
    static auto magnitudes(const together<block> & b) {
#ifdef PANELS_HAVE_VBMI
        static const grid_codes<512, 8> codes(iq2xs_grid, {8, 25, 43, 0});
        const ints at    = four_lanes(0x1a1812100a080200, 0x3a3832302a282220, 0x0404040404040404, 0x4040404040404040);
        const ints first = load(b.each[0]->qs), second = load(b.each[1]->qs);
        const ints upper = _mm512_permutex2var_epi8(first, add_bytes(at, all_bytes(1)), second);
        magnitudes_of found;
        codes.look_up(_mm512_permutex2var_epi8(first, at, second), _mm512_test_epi8_mask(upper, all_bytes(1)), 0, found.each);
        return found;
#else
        return magnitudes_of([b](int j) {
            return four_eights(b, [&](const block & of, int i) { return (int64_t) iq2xs_grid[of.qs[4*j + i] & 511]; });
        });
#endif
    }
    static signs_of signs(const together<block> & b) {
        const auto fields = [&](size_t at) { return shift_right(load_32(b, offsetof(block, qs) + at), 9); };
        return signs_of(even_bytes(pick_words<0xd8>(pack_pairs(fields(0), fields(32)))));
    }
    static ints scales(const together<block> & b) { return nibble_scales(b, offsetof(block, scales)); }
};

struct iq2_s : super_block<16> {
    using block = block_iq2_s;
    static constexpr bool   has_signs = true;
    static constexpr int    offset = 43, largest = 86;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/8;
    // `qh` has the upper 2 bits of each index.
    static auto magnitudes(const together<block> & b) {
#ifdef PANELS_HAVE_VBMI
        static const grid_codes<1024, 8> codes(iq2s_grid, {8, 25, 43, 0});
        const ints at    = four_lanes(0x0006000400020000, 0x000e000c000a0008, 0x0001000100010001, 0x0010001000100010);
        const ints upper = spread(eight_bytes(b.each[0]->qh), eight_bytes(b.each[1]->qh), 0x0303020201010000, 0x0707060605050404);
        const __mmask64 ninth = _mm512_test_epi8_mask(upper, four_lanes(0x0401040104010401, 0x0401040104010401, 0x3c0f3c0f3c0f3c0f, 0));
        const __mmask64 tenth = _mm512_test_epi8_mask(upper, four_lanes(0x0802080208020802, 0x0802080208020802, 0x781e781e781e781e, 0));
        magnitudes_of found;
        codes.look_up(_mm512_permutexvar_epi16(at, load_32(b, offsetof(block, qs))), ninth, tenth, found.each);
        return found;
#else
        return magnitudes_of([b](int j) {
            return four_eights(b, [&](const block & of, int i) {
                return (int64_t) iq2s_grid[of.qs[4*j + i] | (of.qh[j] << (8 - 2*i) & 0x300)];
            });
        });
#endif
    }
    static signs_of signs(const together<block> & b) { return signs_of(load_32(b, offsetof(block, qs) + QK_K/8)); }
    static ints scales(const together<block> & b) { return nibble_scales(b, offsetof(block, scales)); }
};

struct iq3_xxs : super_block<8> {
    using block = block_iq3_xxs;
    static constexpr bool   has_signs = true;
    static constexpr int    offset = 62, largest = 124;
    static constexpr size_t scale_at = offsetof(block, d);
    static constexpr float  scale_factor = 1.0f/4;
    static constexpr int    signs_at = QK_K/4; // and scales, in `qs`
    static auto magnitudes(const together<block> & b) {
#ifdef PANELS_HAVE_VBMI
        static const grid_codes<256, 4> codes(iq3xxs_grid, {4, 12, 20, 28, 36, 44, 52, 62});
        return look_up_fours(load(b.each[0]->qs), load(b.each[1]->qs), [&](ints indices, int, ints * to) { codes.look_up(indices, 0, 0, to); });
#else
        return magnitudes_of([b](int j) {
            return eight_fours(b, [&](const block & of, int i) { return (int) iq3xxs_grid[of.qs[8*j + i]]; });
        });
#endif
    }
    static signs_of signs(const together<block> & b) { return signs_of(even_bytes_of_28(load_32(b, offsetof(block, qs) + signs_at))); }
    static ints scales(const together<block> & b) {
        return first_pairs(odd(shift_right_fours(load_32(b, offsetof(block, qs) + signs_at), all(28))));
    }
};

struct iq3_s : super_block<8> {
    using block = block_iq3_s;
    static constexpr bool   has_signs = true;
    static constexpr int    offset = 15, largest = 30;
    static constexpr size_t scale_at = offsetof(block, d);
#ifndef PANELS_OF_16
    static constexpr int    rows_min = 2;
#endif
    // `qh` has the upper bit of each index.
    static auto magnitudes(const together<block> & b) {
#ifdef PANELS_HAVE_VBMI
        static const grid_codes<512, 4> codes(iq3s_grid, {1, 3, 5, 7, 9, 11, 13, 15});
        return look_up_fours(load(b.each[0]->qs), load(b.each[1]->qs), [&](ints indices, int first, ints * to) {
            const int64_t at   = first*0x0101010101010101, bits = 0x0804020108040201;
            const ints   upper = spread(eight_bytes(b.each[0]->qh), eight_bytes(b.each[1]->qh), at + 0x0101010100000000, at + 0x0303030302020202);
            codes.look_up(indices, _mm512_test_epi8_mask(upper, four_lanes(bits, bits, 15*bits, 0)), 0, to);
        });
#else
        return magnitudes_of([b](int j) {
            return eight_fours(b, [&](const block & of, int i) { return (int) iq3s_grid[of.qs[8*j + i] | (of.qh[j] << (8 - i) & 256)]; });
        });
#endif
    }
    static signs_of signs(const together<block> & b) { return signs_of(load_32(b, offsetof(block, signs))); }
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
