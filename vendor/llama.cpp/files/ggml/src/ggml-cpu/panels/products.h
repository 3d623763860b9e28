// Multiplies weights by rows of inputs: with panels for several rows, without them for a single row.
#pragma once

#include "inputs.h"

namespace {

// A row of inputs, and the destination of its products.
struct row {
    const char * input;
    float *      output;
};

#ifndef PANELS_HAVE_VNNI

// How many products of bytes can be added in 16 bits.
template <class T> constexpr int products_in_16_bits() {
    int count = 1;
    while (!is_signed_in_panels<T> && 2*count*T::largest*2*128 <= 32767 && 2*count <= T::columns/T::sub_blocks/4) {
        count *= 2;
    }
    return count;
}

// The sums of a block of weights, for n rows of inputs.
template <class T, int n> inline void sum_block(const panel<T> & w, const char * const (&in)[n], ints (&sums)[n]) {
    constexpr int steps = T::columns/T::sub_blocks/4;
    constexpr int run   = products_in_16_bits<T>();
    for (int m = 0; m < n; ++m) {
        sums[m] = all(!has_scales<T> && !is_signed_in_panels<T> ? four_bytes(in[m] + input<T>::excess(0)) : 0);
    }
    for (int s = 0; s < T::sub_blocks; ++s) {
        const ints factor = has_scales<T> ? load(w.scales[s]) : _mm256_set1_epi16(1);
        const int  first  = input<T>::value(4*steps*s);
#pragma GCC unroll 8
        for (int i = 0; i < steps; i += run) {
            ints pairs[n];
#pragma GCC unroll 8
            for (int k = 0; k < run; ++k) {
                const ints weights = load(w.weights[s*steps + i + k]);
#pragma GCC unroll 8
                for (int m = 0; m < n; ++m) {
                    const ints values  = all(four_bytes(in[m] + first + 4*(i + k)));
                    const ints product = is_signed_in_panels<T>
                        ? _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(values, weights))
                        : _mm256_maddubs_epi16(weights, values);
                    pairs[m] = k == 0 ? product : _mm256_add_epi16(pairs[m], product);
                }
            }
#pragma GCC unroll 8
            for (int m = 0; m < n; ++m) {
                sums[m] = dot_pairs(sums[m], pairs[m], factor);
            }
        }
    }
}
#else

// The sums of a block of weights, for n rows of inputs, with instructions that add four products of bytes to 32 bits.
template <class T, int n> inline void sum_block(const panel<T> & w, const char * const (&in)[n], ints (&sums)[n]) {
    constexpr int steps = T::columns/T::sub_blocks/4;
    for (int s = 0; s < T::sub_blocks; ++s) {
        const int first = input<T>::value(4*steps*s);
        ints parts[n];
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            parts[m] = all(T::offset != 0 ? four_bytes(in[m] + input<T>::excess(s)) : 0);
        }
#pragma GCC unroll 8
        for (int i = 0; i < steps; ++i) {
            const ints weights = load(w.weights[s*steps + i]);
#pragma GCC unroll 8
            for (int m = 0; m < n; ++m) {
                parts[m] = dot_bytes(parts[m], weights, all(four_bytes(in[m] + first + 4*i)));
            }
        }
        const ints factor = load(w.scales[s]);
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            if constexpr (has_scales<T>) {
                parts[m] = multiply(parts[m], factor);
            }
            sums[m] = s == 0 ? parts[m] : add(sums[m], parts[m]);
        }
    }
}

#endif

// Adds the products of a panel's blocks, of which the first has the index `first` in its row, and n rows of inputs.
template <class T, int n> void multiply_tile(const panel<T> * panels, int64_t first, int64_t blocks, const row * rows, floats * results) {
    const char * in[n];
    floats result[n];
#pragma GCC unroll 8
    for (int m = 0; m < n; ++m) {
        in[m]     = rows[m].input + input<T>::of_block(first);
        result[m] = results[m];
    }
    for (int64_t at = first; at < first + blocks; ++at) {
        const panel<T> & w = panels[at - first];
        ints sums[n];
        sum_block<T, n>(w, in, sums);
        ints products[n];
        if constexpr (panel<T>::has_products) {
#pragma GCC unroll 8
            for (int i = 0; i < T::sub_blocks/2; ++i) {
                const ints pair = load(w.products[i]);
#pragma GCC unroll 8
                for (int m = 0; m < n; ++m) {
                    const ints pair_of_sums = all(four_bytes(in[m] + input<T>::sum(minimums_at<T> + 2*i)));
                    products[m] = dot_pairs(i == 0 ? all(0) : products[m], pair, pair_of_sums);
                }
            }
        }
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            if constexpr (panel<T>::has_products && !T::has_minimums) {
                sums[m] = add(sums[m], multiply(products[m], all(-T::offset)));
            }
            const floats input_scale = all(a_float(in[m] + input<T>::scale));
            result[m] = multiply_add(to_floats(sums[m]), multiply(load(w.scale), input_scale), result[m]);
            if constexpr (T::has_minimums) {
                result[m] = multiply_subtract(to_floats(products[m]), multiply(load(w.minimum), input_scale), result[m]);
            }
            in[m] += input<T>::of_block(at + 1) - input<T>::of_block(at);
        }
    }
#pragma GCC unroll 8
    for (int m = 0; m < n; ++m) {
        results[m] = result[m];
    }
}

constexpr int tile_rows = lanes == 16 ? 8 : 4;

template <class T, int n = tile_rows>
void multiply_panel(const panel<T> * panels, int64_t first, int64_t blocks, const row * rows, int64_t count, floats * results) {
    for (; count >= n; count -= n) {
        multiply_tile<T, n>(panels, first, blocks, rows, results);
        rows += n;
        results += n;
    }
    if constexpr (n > 1) {
        multiply_panel<T, n/2>(panels, first, blocks, rows, count, results);
    }
}

// The first `used` lanes.
inline void put_result(floats result, float * to, int used) {
    if (used == lanes) {
        store(to, result);
        return;
    }
    float each[lanes];
    store(each, result);
    memcpy(to, each, used*sizeof(float));
}

// The prefetch distance ahead of the weights being read, in bytes.
constexpr size_t prefetch_distance = 13824;

// Each 16 bits have the sum of two products.
template <class T> inline ints pairs_of(ints weights, ints values) {
#ifndef PANELS_HAVE_VNNI
    if constexpr (is_signed_in_panels<T>) {
        weights = subtract_bytes(weights, all_bytes((char) T::offset));
        return sums_of_two(_mm256_abs_epi8(weights), _mm256_sign_epi8(values, weights));
    }
#endif
    return sums_of_two(weights, values);
}

// Each lane has the sum of four products.
template <class T> inline ints sums_of_four(ints weights, ints values) {
#ifdef PANELS_HAVE_VNNI
    return dot_bytes(all(0), weights, values);
#else
    return sums_of_pairs(pairs_of<T>(weights, values), all_pairs(1));
#endif
}

// Whether sums of two products of a sub-block need more than 16 bits.
template <class T> constexpr bool needs_32_bits = has_vnni && has_scales<T> && is_signed_in_pairs<T>;

// For weights 32*j and following, the scale in all pairs of each half.
inline ints scale_pairs(ints scales, int j) { return pick_bytes(scales, all_pairs((int16_t) (0x0100 + 0x0202*j))); }

// The same where signs need registers: with AVX2, there are too few for the indices of every j.
class picked_scales {
public:
#ifdef PANELS_OF_16
    explicit picked_scales(ints scales) : scales(scales) {}
    ints of(int j) const { return scale_pairs(scales, j); }

private:
    ints scales;
#else
    explicit picked_scales(ints scales) : first(_mm256_unpacklo_epi16(scales, scales)), last(_mm256_unpackhi_epi16(scales, scales)) {}
    ints of(int j) const { return all_of_half(j < 4 ? first : last, j%4); }

private:
    ints first, last;
#endif
};

struct no_signs {};
template <class T> using signs_for = std::conditional_t<T::has_signs, signs_of, no_signs>;

// The sums of blocks in lanes, still to be added up.
template <class T> inline ints sum_blocks(const together<typename T::block> & blocks, const signs_for<T> & signs, const char * in, ints scales) {
    ints sum = all(0);
    if constexpr (has_scales<T>) {
        if constexpr (!T::has_minimums && !T::has_signs && !is_signed_in_panels<T>) {
            sum = multiply(sums_of_pairs(scales, load(in + input<T>::sum(0))), all(-T::offset));
        }
        // For weights 32*j and following, pair j has the scale of the first 16 in its lower half.
        const ints evens = each_row_32(0x0d0c090805040100, 0x0f0e0b0a07060302, 0x0d0c090805040100, 0x0f0e0b0a07060302);
        scales = T::sub_blocks == 16 ? pick_words<0xd8>(pick_bytes(scales, evens))
               : needs_32_bits<T>    ? widen_low_pairs(pick_words<0x50>(scales))
                                     : pick_words<0x44>(scales);
    }
    if constexpr (T::has_signs) {
        const picked_scales pairs(scales);
        const auto magnitudes = T::magnitudes(blocks);
#pragma GCC unroll 8
        for (int j = 0; j < T::columns/32; ++j) {
            const ints values = with_signs(load(in + input<T>::value(32*j)), signs.of(j));
            sum = dot_pairs(sum, sums_of_two(magnitudes.of(j), values), pairs.of(j));
        }
    } else {
#pragma GCC unroll 8
        for (int j = 0; j < T::columns/32; ++j) {
            const ints values = load(in + input<T>::value(32*j));
            const ints bytes = T::weights(blocks, j);
            if constexpr (!has_scales<T>) {
                sum = sums_of_four<T>(bytes, values);
            } else if constexpr (needs_32_bits<T>) {
                sum = add(sum, multiply(sums_of_four<T>(bytes, values), pick_lanes(scales, each_lane_of_row(j))));
                // GCC would otherwise compute all eight first and then keep them in memory.
                asm("" : "+v"(sum));
            } else {
                sum = dot_pairs(sum, pairs_of<T>(bytes, values), scale_pairs(scales, j));
            }
        }
    }
    return sum;
}

// The results of 8 blocks of `lanes` rows.
template <class T> struct eight_blocks {
    ints            sums[16]; // see `sums_of_blocks`
    ints            products[T::has_minimums ? 16 : 1];
    stored_scale<T> scale[8][lanes];
};

// The number of blocks of a row in four vectors.
constexpr int blocks_in_four = 4*blocks_together;

// Computes that many neighbouring blocks, or `count` of them if they are not whole. The first one has the index `at` among the
// eight.
template <class T, bool whole> void sum_four(const typename T::block * blocks, const char * in, int64_t count, eight_blocks<T> & to, int at, int row) {
    using block = typename T::block;
    const auto is_missing = [&](int i) { return !whole && i*blocks_together >= count; };
    const auto together_at = [&](int i) {
        together<block> each;
        for (int k = 0; k < blocks_together; ++k) {
            // A missing one at the end is computed and discarded.
            each.each[k] = blocks + i*blocks_together + (whole || i*blocks_together + k < count ? k : 0);
        }
        return each;
    };
    signs_for<T> signs[4];
    if constexpr (T::has_signs) {
        // Each takes many instructions in a row; those of all four can overlap.
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            if (!is_missing(i)) {
                signs[i] = T::signs(together_at(i));
            }
        }
    }
    ints sums[4];
    ints products[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        if (is_missing(i)) {
            sums[i]     = all(0);
            products[i] = all(0);
            continue;
        }
        // Blocks are read in their order in memory; these lines follow some rows later.
        constexpr size_t size = blocks_together*sizeof(block);
#pragma GCC unroll 16
        for (size_t line = (i*size + line_size - 1)/line_size; line < ((i + 1)*size + line_size - 1)/line_size; ++line) {
            _mm_prefetch((const char *) blocks + prefetch_distance + line*line_size, _MM_HINT_T0);
        }
        const together<block> each = together_at(i);
        for (const block * one : each.each) {
            to.scale[at + (one - blocks)][row] = scale_of<T>(one);
        }
        const char * inputs = in + i*input<T>::size;
        ints scales = all(0);
        if constexpr (has_scales<T>) {
            scales = scales_of<T>(each);
        }
        sums[i] = sum_blocks<T>(each, signs[i], inputs, scales);
        if constexpr (T::has_minimums) {
            products[i] = sums_of_pairs(minimums_of<T>(each, scales), load(inputs + input<T>::sum(0)));
        }
    }
    const int place = at == 0 ? row : row + 8;
    to.sums[place] = sums_of_lanes(sums);
    if constexpr (T::has_minimums) {
        to.products[place] = sums_of_lanes(products);
    }
}

// The products of `lanes` rows of weights with one row of inputs, without panels: the same sums in the same order. Each row is
// read to its end before the next, because sequential reads of memory are fastest.
template <class T> floats multiply_rows(const char * const (&weights)[lanes], int64_t blocks, const char * in, eight_blocks<T> * found) {
    for (int row = 0; row < lanes; ++row) {
        const auto * from = (const typename T::block *) weights[row];
        int64_t at = 0;
        for (; at + blocks_in_four <= blocks; at += blocks_in_four) {
            sum_four<T, true>(from + at, in + input<T>::of_block(at), blocks_in_four, found[at/8], (int) (at%8), row);
        }
        if (at < blocks) {
            sum_four<T, false>(from + at, in + input<T>::of_block(at), blocks - at, found[at/8], (int) (at%8), row);
        }
    }
    floats result = all(0.0f);
    for (int64_t first = 0; first < blocks; first += 8) {
        const eight_blocks<T> & eight = found[first/8];
        ints sums[8];
        ints products[8];
        sums_of_blocks(eight.sums, sums);
        if constexpr (T::has_minimums) {
            sums_of_blocks(eight.products, products);
        }
        for (int i = 0; i < std::min<int64_t>(8, blocks - first); ++i) {
            const char * from = in + input<T>::of_block(first + i);
            if constexpr (!has_scales<T> && !is_signed_in_panels<T>) {
                sums[i] = add(sums[i], all(four_bytes(from + input<T>::excess(0))));
            }
            const floats input_scale = all(a_float(from + input<T>::scale));
            result = multiply_add(to_floats(sums[i]), multiply(scales_in<T>(eight.scale[i]), input_scale), result);
            if constexpr (T::has_minimums) {
                result = multiply_subtract(to_floats(products[i]), multiply(minimums_in<T>(eight.scale[i]), input_scale), result);
            }
        }
    }
    return result;
}

// Up to so many rows of inputs, a few blocks at a time are decoded and multiplied by all of them, so that panels stay in the level-1
// cache and memory is read at an even pace.
constexpr int few_rows = 16;
template <class T> constexpr int few_blocks = std::max(1, 256/T::columns);

// The bytes of memory that `multiply` needs for rows of this many blocks.
template <class T> size_t buffer_size(int64_t blocks) {
    return std::max(blocks*sizeof(panel<T>), (blocks + 7)/8*sizeof(eight_blocks<T>));
}

// The products of up to `lanes` of `width` rows of weights, starting with the first one, with all rows of inputs.
template <class T>
void multiply(const char * weights, size_t stride, int64_t first, int64_t width, int64_t blocks, const row * rows, int64_t count, void * buffer) {
    const int used = (int) std::min<int64_t>(lanes, width - first);
    const char * each[lanes];
    for (int r = 0; r < lanes; ++r) { // missing rows at the end are computed and discarded
        each[r] = weights + (first + std::min(r, used - 1))*stride;
    }
    if (count == 1) {
        put_result(multiply_rows<T>(each, blocks, rows->input, (eight_blocks<T> *) buffer), rows->output + first, used);
        return;
    }
    constexpr size_t size = sizeof(typename T::block);
    auto * panels = (panel<T> *) buffer;
    // Read instead of the next weights where there are none: behind the last rows, memory may end.
    static_assert(lanes*size <= sizeof(panel<T>));
    const auto * nothing = (const char *) panels;
    const char * end   = weights + (width - 1)*stride + blocks*size;
    const char * ahead = each[0] + lanes*blocks*size;
    const int64_t step = count <= few_rows ? few_blocks<T> : blocks;
    floats results[few_rows];
    std::fill_n(results, std::min<int64_t>(few_rows, count), all(0.0f));
    for (int64_t at = 0; at < blocks; at += step) {
        const int64_t found = std::min(step, blocks - at);
        for (int64_t i = 0; i < found; ++i) {
            const bool has_next = ahead + lanes*size <= end;
            decode<T>(each, has_next ? ahead : nothing, panels[i]);
            ahead += lanes*size;
            for (const char * & row : each) {
                row += size;
            }
        }
        for (int64_t tile = 0; tile < count; tile += few_rows) {
            const int64_t n = std::min<int64_t>(few_rows, count - tile);
            if (count > few_rows) {
                std::fill_n(results, n, all(0.0f));
            }
            multiply_panel<T>(panels, at, found, rows + tile, n, results);
            if (at + found == blocks) {
                for (int64_t m = 0; m < n; ++m) {
                    put_result(results[m], rows[tile + m].output + first, used);
                }
            }
        }
    }
}

} // namespace
