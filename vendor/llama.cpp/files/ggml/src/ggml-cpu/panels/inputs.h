// The two operands of a product by panels: rows of inputs, rounded to 8 bits, and decoded panels of weights.
#pragma once

#include "grids.h"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace {

// Products of bytes are added in pairs of 16 bits, at least without VNNI: larger weights must be signed, so that they are small enough.
template <class T> constexpr bool is_signed_in_pairs  = T::largest > 127;
template <class T> constexpr bool is_signed_in_panels = !has_vnni && is_signed_in_pairs<T>;
template <class T> constexpr bool has_scales          = T::sub_blocks > 1;

// Minimums follow the scales in their vector, or have one of their own.
template <class T> constexpr bool has_own_minimums = T::has_minimums && T::sub_blocks == 16;
template <class T> constexpr int  minimums_at      = T::has_minimums && T::sub_blocks == 8 ? 8 : 0;

// In pairs: the scales of sub-blocks, and their minimums.
template <class T> inline ints scales_of(const together<typename T::block> & blocks) {
    if constexpr (T::has_byte_scales) {
        return widen(T::scale_bytes(blocks));
    } else {
        return T::scales(blocks);
    }
}

template <class T> inline ints minimums_of(const together<typename T::block> & blocks, ints scales) {
    if constexpr (has_own_minimums<T>) {
        return widen(T::minimum_bytes(blocks));
    } else {
        return scales;
    }
}

// The scale of a block, with minimums in the lower half of 32 bits, and theirs in the upper half.
template <class T> using stored_scale =
    std::conditional_t<T::has_minimums, uint32_t, std::conditional_t<T::has_half_scale, ggml_half, float>>;

template <class T> inline stored_scale<T> scale_of(const typename T::block * block) {
    if constexpr (T::has_half_scale) {
        stored_scale<T> scale;
        memcpy(&scale, (const char *) block + T::scale_at, sizeof(scale));
        return scale;
    } else {
        return T::scale(*block);
    }
}

// As floats, of each row; and, with minimums, theirs.
template <class T> inline floats scales_in(const stored_scale<T> (&scales)[lanes]) {
    if constexpr (T::has_minimums) {
        return to_floats(low_words(load(scales)));
    } else if constexpr (T::has_half_scale) {
        half_ints halves;
        memcpy(&halves, scales, sizeof(halves));
        return to_floats(halves);
    } else {
        return load(scales);
    }
}
template <class T> inline floats minimums_in(const stored_scale<T> (&scales)[lanes]) { return to_floats(high_words(load(scales))); }

// Where a row of inputs, rounded to 8 bits, holds the data for a block of weights. It is stored in parts of 32 bytes; where a
// vector holds two blocks of weights, the parts of two neighbouring blocks alternate, so that one vector holds both.
template <class T> struct input {
    static constexpr int part       = 32*blocks_together;
    static constexpr int sums_at    = T::columns/32*part;
    static constexpr int numbers_at = sums_at + (has_scales<T> ? part : 0);
    static constexpr int size       = numbers_at + (T::sub_blocks/8 + 1)*part; // of `blocks_together` blocks

    static int64_t of_block(int64_t at) { return at/blocks_together*size + at%blocks_together*32; }

    // Offsets from there. A value, of 8 bits:
    static constexpr int value(int i) { return i/32*part + i%32; }
    // The sum of a sub-block, of 16 bits, at the index that its scale or minimum has:
    static constexpr int sum(int i) { return sums_at + 2*i; }
    // The negated amount that `offset` adds to the sum of a sub-block, of 32 bits:
    static constexpr int excess(int i) { return numbers_at + i/8*part + i%8*4; }
    // A float:
    static constexpr int scale = numbers_at + T::sub_blocks/8*part + T::sub_blocks%8*4;
};

// One block of each row of a panel.
template <class T> struct alignas(line_size) panel {
    // Whether integers of the weights are multiplied by the sums of the inputs, in pairs.
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

// Block `at` of a row.
template <class T> void round_input(const float * values, char * row, int64_t at) {
    char * to = row + input<T>::of_block(at);
    const float  largest = largest_of(values, T::columns);
    const __m256 factor  = _mm256_set1_ps(largest > 0 ? 127/largest : 0);
    const auto rounded = [&](int i) { return _mm256_cvtps_epi32(_mm256_mul_ps(factor, _mm256_loadu_ps(values + i))); };
    const auto put     = [&](int place, auto value) { memcpy(to + place, &value, sizeof(value)); };
    put(input<T>::scale, largest/127*T::scale_factor);
    if constexpr (has_scales<T>) {
        put(input<T>::sum(0), _mm256_setzero_si256());
    }
    for (int j = 0; j < T::columns/32; ++j) {
        const __m256i words[2] = {_mm256_packs_epi32(rounded(32*j), rounded(32*j + 8)),
                                  _mm256_packs_epi32(rounded(32*j + 16), rounded(32*j + 24))};
        // Packing takes the lower halves of both first.
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(words[0], words[1]),
                                                          _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        put(input<T>::value(32*j), bytes);
        const __m256i ones   = _mm256_set1_epi8(1);
        const __m256i fours  = _mm256_madd_epi16(_mm256_maddubs_epi16(ones, bytes), _mm256_set1_epi16(1));
        const int32_t halves[2] = {sum_of(_mm256_castsi256_si128(fours)), sum_of(_mm256_extracti128_si256(fours, 1))};
        if constexpr (T::sub_blocks == 16) {
            for (int half = 0; half < 2; ++half) {
                put(input<T>::excess(2*j + half), -T::offset*halves[half]);
                put(input<T>::sum(2*j + half), (int16_t) halves[half]);
            }
        } else {
            put(input<T>::excess(j), -T::offset*(halves[0] + halves[1]));
            if constexpr (has_scales<T>) {
                put(input<T>::sum(j + minimums_at<T>), (int16_t) (halves[0] + halves[1]));
            }
        }
    }
}

// For `pick_bytes`: in each 32 bits, the lower or the upper 16 twice.
template <int half> inline ints pair_bytes() {
    constexpr int64_t first = half == 0 ? 0x0504050401000100 : 0x0706070603020302;
    constexpr int64_t eight = 0x0808080808080808;
    return each_row_32(first, first + eight, first, first + eight);
}

// The integers of 16 bits that bytes 0 and 1 of every lane stand for, or 2 and 3.
template <int half> inline ints widen_bytes(ints bytes) {
    constexpr int64_t first = half == 0 ? 0x0580048001800080 : 0x0780068003800280;
    constexpr int64_t eight = 0x0800080008000800;
    return shift_right_signed(pick_bytes(bytes, each_row_32(first, first + eight, first, first + eight)), 8);
}

// 16 integers of each row, as pairs.
inline void widen(const four_columns & bytes, ints (&pairs)[8]) {
    for (int i = 0; i < 4; ++i) {
        pairs[2*i]     = widen_bytes<0>(bytes.each[i]);
        pairs[2*i + 1] = widen_bytes<1>(bytes.each[i]);
    }
}

// The weights that a panel needs next, read in the order of memory, a piece at a time. A panel's rows are read side by side, which
// hardware prefetchers do not follow; and instructions that prefetch are ignored while too many of them are waiting.
class next_weights {
public:
    explicit next_weights(const char * at) : at(at) {}

    // One of `pieces` of so many bytes.
    template <size_t bytes, int pieces> void read_piece() {
        constexpr int lines = (bytes + line_size - 1)/line_size;
        for (++pieces_read; lines_read*pieces < pieces_read*lines; ++lines_read) {
            const char * line = at + lines_read*line_size;
            (void) *(const volatile char *) line;
            asm volatile("" : "+r"(line)); // GCC would otherwise move all of them to the start
            _mm_prefetch(line + distance, _MM_HINT_T0);
        }
    }

private:
    static constexpr size_t distance = 8192;

    const char * at;
    int          pieces_read = 0;
    int          lines_read  = 0;
};

// The integers of sub-blocks.
template <class T> inline void decode_scales(row_blocks rows, const together<typename T::block> (&blocks)[8], panel<T> & to) {
    ints pairs[8]; // of every row
    if constexpr (T::has_byte_scales) {
        widen(T::scale_bytes(rows), pairs);
    } else {
        for (int r = 0; r < 8; ++r) {
            pairs[r] = T::scales(blocks[r]);
        }
        transpose(pairs);
    }
    for (int i = 0; i < T::sub_blocks/2; ++i) {
        // As 32 bits, or, where pairs are multiplied, twice in them.
        const ints low  = has_vnni ? sums_of_pairs(pairs[i], all(1)) : pick_bytes(pairs[i], pair_bytes<0>());
        const ints high = has_vnni ? sums_of_pairs(pairs[i], all(1 << 16)) : pick_bytes(pairs[i], pair_bytes<1>());
        store(to.scales[2*i], low);
        store(to.scales[2*i + 1], high);
        if constexpr (panel<T>::has_products && !has_own_minimums<T>) {
            store(to.products[i], pairs[i + minimums_at<T>/2]);
        }
    }
    if constexpr (has_own_minimums<T>) {
        widen(T::minimum_bytes(rows), pairs);
        for (int i = 0; i < 8; ++i) {
            store(to.products[i], pairs[i]);
        }
    }
}

// The magnitudes and signs of blocks.
template <class T> class signed_weights {
public:
    explicit signed_weights(const together<typename T::block> & blocks) : magnitudes(T::magnitudes(blocks)), signs(T::signs(blocks)) {}

    // Those from 32*j on, as `weights` of other types.
    ints of(int j) const { return add_bytes(with_signs(magnitudes.of(j), signs.of(j)), all_bytes(T::offset)); }

private:
    decltype(T::magnitudes({})) magnitudes;
    signs_of                    signs;
};

// Of a panel's rows; nothing of types without signs.
template <class T, size_t... r> inline auto signed_rows(const together<typename T::block> (&blocks)[8], std::index_sequence<r...>) {
    if constexpr (T::has_signs) {
        return std::array<signed_weights<T>, 8>{signed_weights<T>(blocks[r])...};
    } else {
        return std::nullptr_t();
    }
}

// Block 0 of each of the panel's rows.
template <class T> [[gnu::noinline]] void decode(row_blocks rows, const char * ahead, panel<T> & to) {
    using block = typename T::block;
    constexpr bool of_columns = T::packed > 0;
    next_weights next(ahead);
    together<block> blocks[8];
    stored_scale<T> scales[lanes];
    for (int r = 0; r < lanes; ++r) {
        blocks[r%8].each[r/8] = (const block *) rows[r];
        scales[r] = scale_of<T>((const block *) rows[r]);
    }
    const auto read_piece = [&] {
        next.read_piece<lanes*sizeof(block), T::columns/32 + T::packed/32>();
    };
    [[maybe_unused]] const auto weights = signed_rows<T>(blocks, std::make_index_sequence<8>());
    ints lines[8];
    const auto load_lines = [&](auto of_row) {
#pragma GCC unroll 8
        for (int r = 0; r < 8; ++r) {
            lines[r] = of_row(r);
        }
        transpose(lines);
    };
    ints packed[std::max(1, T::packed/4)];
#pragma GCC unroll 8
    for (int i = 0; i < T::packed/32; ++i) {
        read_piece();
        load_lines([&](int r) { return load_32(blocks[r], T::packed_at + 32*i); });
        std::copy(lines, lines + 8, packed + 8*i);
    }
    if constexpr (T::packed == 16) {
        const four_columns all = load_16(rows, T::packed_at);
        std::copy(all.each, all.each + 4, packed);
    }
#pragma GCC unroll 8
    for (int j = 0; j < T::columns/32; ++j) {
        read_piece();
        if constexpr (!of_columns) {
            load_lines([&](int r) {
                if constexpr (T::has_signs) {
                    return weights[r].of(j);
                } else {
                    return T::weights(blocks[r], j);
                }
            });
        }
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            if constexpr (of_columns) {
                lines[i] = T::weights(columns<T::packed_at>{packed, i}, j);
            }
            if constexpr (is_signed_in_panels<T>) {
                lines[i] = subtract_bytes(lines[i], all_bytes((char) T::offset));
            }
            store(to.weights[8*j + i], lines[i]);
        }
    }
    if constexpr (has_scales<T>) {
        decode_scales<T>(rows, blocks, to);
    }
    store(to.scale, scales_in<T>(scales));
    if constexpr (T::has_minimums) {
        store(to.minimum, minimums_in<T>(scales));
    }
}

} // namespace
