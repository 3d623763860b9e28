// Products of weights with rows of inputs: by panels, and of a single row of inputs without them.
#pragma once

#include "inputs.h"

#include <algorithm>

namespace {

// A row of inputs, and where its products go.
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
template <class T, int n> inline void sum_block(const panel<T> & w, const input<T> * const (&in)[n], ints (&sums)[n]) {
    constexpr int steps = T::columns/T::sub_blocks/4;
    constexpr int run   = products_in_16_bits<T>();
    for (int m = 0; m < n; ++m) {
        sums[m] = all(!has_scales<T> && !is_signed_in_panels<T> ? in[m]->excess[0] : 0);
    }
    for (int s = 0; s < T::sub_blocks; ++s) {
        const ints factor = has_scales<T> ? load(w.scales[s]) : _mm256_set1_epi16(1);
#pragma GCC unroll 8
        for (int i = s*steps; i < (s + 1)*steps; i += run) {
            ints pairs[n];
#pragma GCC unroll 8
            for (int k = 0; k < run; ++k) {
                const ints weights = load(w.weights[i + k]);
#pragma GCC unroll 8
                for (int m = 0; m < n; ++m) {
                    const ints values  = all(four_bytes(in[m]->values + 4*(i + k)));
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
template <class T, int n> inline void sum_block(const panel<T> & w, const input<T> * const (&in)[n], ints (&sums)[n]) {
    constexpr int steps = T::columns/T::sub_blocks/4;
    for (int s = 0; s < T::sub_blocks; ++s) {
        ints parts[n];
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            parts[m] = all(T::offset != 0 ? in[m]->excess[s] : 0);
        }
#pragma GCC unroll 8
        for (int i = s*steps; i < (s + 1)*steps; ++i) {
            const ints weights = load(w.weights[i]);
#pragma GCC unroll 8
            for (int m = 0; m < n; ++m) {
                parts[m] = dot_bytes(parts[m], weights, all(four_bytes(in[m]->values + 4*i)));
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

// The products of a panel with n rows of inputs.
template <class T, int n> void multiply_tile(const panel<T> * panels, int64_t blocks, const row * rows, floats (&result)[n]) {
    const input<T> * in[n];
#pragma GCC unroll 8
    for (int m = 0; m < n; ++m) {
        in[m]     = (const input<T> *) rows[m].input;
        result[m] = all(0.0f);
    }
    for (int64_t at = 0; at < blocks; ++at) {
        const panel<T> & w = panels[at];
        ints sums[n];
        sum_block<T, n>(w, in, sums);
        ints products[n];
        if constexpr (panel<T>::has_products) {
#pragma GCC unroll 8
            for (int i = 0; i < T::sub_blocks/2; ++i) {
                const ints pair = load(w.products[i]);
#pragma GCC unroll 8
                for (int m = 0; m < n; ++m) {
                    const ints pair_of_sums = all(four_bytes(in[m]->sums + (T::has_minimums ? 8 : 0) + 2*i));
                    products[m] = dot_pairs(i == 0 ? all(0) : products[m], pair, pair_of_sums);
                }
            }
        }
        const floats scale = load(w.scale);
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            const floats input_scale = all(in[m]->scale);
            if constexpr (panel<T>::has_products && !T::has_minimums) {
                sums[m] = add(sums[m], multiply(products[m], all(-T::offset)));
            }
            result[m] = multiply_add(to_floats(sums[m]), multiply(scale, input_scale), result[m]);
            if constexpr (T::has_minimums) {
                result[m] = multiply_subtract(to_floats(products[m]), multiply(load(w.minimum), input_scale), result[m]);
            }
            ++in[m];
        }
    }
}

constexpr int tile_rows = lanes == 16 ? 8 : 4;

template <class T, int n = tile_rows>
void multiply_panel(const panel<T> * panels, int64_t blocks, int64_t first, int used, const row * rows, int64_t count) {
    while (count >= n) {
        floats result[n];
        multiply_tile<T, n>(panels, blocks, rows, result);
        for (int m = 0; m < n; ++m) {
            if (used == lanes) {
                store(rows[m].output + first, result[m]);
            } else {
                float all_lanes[lanes];
                store(all_lanes, result[m]);
                memcpy(rows[m].output + first, all_lanes, used*sizeof(float));
            }
        }
        rows += n;
        count -= n;
    }
    if constexpr (n > 1) {
        multiply_panel<T, n/2>(panels, blocks, first, used, rows, count);
    }
}

// How far ahead of the weights that are read others are fetched, in bytes.
constexpr size_t prefetch_distance = 10240;

// Each lane has the sum of four products.
template <class T> inline ints sums_of_four(ints weights, ints values) {
#ifdef PANELS_HAVE_VNNI
    return dot_bytes(all(0), weights, values);
#else
    if constexpr (is_signed_in_panels<T>) {
        weights = subtract_bytes(weights, all_bytes((char) T::offset));
        return sums_of_pairs(_mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(values, weights)), all_pairs(1));
    } else {
        return sums_of_pairs(sums_of_two(weights, values), all_pairs(1));
    }
#endif
}

// The sums of a block of each row in lanes, which are still to be added.
template <class T> inline ints sum_row_block(const together<typename T::block> & block, const input<T> & in, ints scales) {
    ints sum = all(0);
    if constexpr (has_scales<T>) {
        if constexpr (!T::has_minimums && !is_signed_in_panels<T>) {
            sum = multiply(sums_of_pairs(scales, each_row(load_32(in.sums))), all(-T::offset));
        }
        // For weights 32*j and following, pair j has the scale of the first 16 in its lower half.
        const ints evens = each_row_32(0x0d0c090805040100, 0x0f0e0b0a07060302, 0x0d0c090805040100, 0x0f0e0b0a07060302);
        scales = T::sub_blocks == 16 ? pick_words<0xd8>(pick_bytes(scales, evens)) : pick_words<0x44>(scales);
    }
#pragma GCC unroll 8
    for (int j = 0; j < T::columns/32; ++j) {
        const ints values = each_row(load_32(in.values + 32*j));
        const ints bytes = T::weights(block, j);
        if constexpr (!has_scales<T>) {
            sum = sums_of_four<T>(bytes, values);
        } else {
            sum = dot_pairs(sum, sums_of_two(bytes, values), pick_bytes(scales, all_pairs((int16_t) (0x0100 + 0x0202*j))));
        }
    }
    return sum;
}

// What 8 blocks of `lanes` rows give.
struct eight_blocks {
    ints      sums[8]; // of rows, and then, transposed, of blocks
    ints      products[8];
    ggml_half scale[8][lanes]; // of blocks
    ggml_half minimum[8][lanes];
};

// Computes up to 8 blocks of rows r and, if vectors have room for two, r + 8.
template <class T>
void sum_row_blocks(const together<typename T::block> & blocks, const input<T> * in, int64_t count, eight_blocks & to, int r) {
    using block = typename T::block;
    ints sums[8];
    ints products[8];
    // The rows are read in their order in memory; this is what follows some rows later.
    for (const block * row : blocks.each) {
        for (size_t line = 0; line < 8*sizeof(block); line += line_size) {
            _mm_prefetch((const char *) row + prefetch_distance + line, _MM_HINT_T0);
        }
    }
    const auto add_block = [&](int i) {
        together<block> each;
        for (int k = 0; k < rows_together; ++k) {
            each.each[k] = blocks.each[k] + i;
            to.scale[i][r + 8*k] = T::scale(each.each[k]);
            if constexpr (T::has_minimums) {
                to.minimum[i][r + 8*k] = T::minimum(each.each[k]);
            }
        }
        ints scales = all(0);
        if constexpr (has_scales<T>) {
            scales = T::scales(each);
        }
        sums[i] = sum_row_block<T>(each, in[i], scales);
        if constexpr (T::has_minimums) {
            products[i] = sums_of_pairs(scales, each_row(load_32(in[i].sums)));
        }
    };
    if (count >= 8) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            add_block(i);
        }
    } else {
        for (int i = 0; i < 8; ++i) {
            sums[i]     = all(0);
            products[i] = all(0);
        }
        for (int i = 0; i < count; ++i) {
            add_block(i);
        }
    }
    to.sums[r] = sums_of(sums);
    if constexpr (T::has_minimums) {
        to.products[r] = sums_of(products);
    }
}

// The products of `lanes` rows of weights with one row of inputs, without panels: the same sums in the same order.
template <class T> floats multiply_rows(const char * const (&weights)[lanes], int64_t blocks, const input<T> * in) {
    // A row's next blocks are taken together, because memory is read fastest in its order.
    constexpr int64_t part = has_scales<T> ? 16 : 64;
    eight_blocks found[part/8];
    floats result = all(0.0f);
    for (int64_t first = 0; first < blocks; first += part) {
        const int64_t end = std::min(part, blocks - first);
        for (int r = 0; r < 8; ++r) {
            for (int64_t at = 0; at < end; at += 8) {
                together<typename T::block> row_blocks;
                for (int k = 0; k < rows_together; ++k) {
                    row_blocks.each[k] = (const typename T::block *) weights[r + 8*k] + first + at;
                }
                sum_row_blocks<T>(row_blocks, in + first + at, end - at, found[at/8], r);
            }
        }
        for (int64_t at = 0; at < end; at += 8) {
            eight_blocks & eight = found[at/8];
            transpose(eight.sums);
            if constexpr (T::has_minimums) {
                transpose(eight.products);
            }
            for (int64_t i = 0; i < std::min<int64_t>(8, end - at); ++i) {
                const input<T> & from = in[first + at + i];
                ints sum = eight.sums[i];
                if constexpr (!has_scales<T> && !is_signed_in_panels<T>) {
                    sum = add(sum, all(from.excess[0]));
                }
                const floats input_scale = all(from.scale);
                result = multiply_add(to_floats(sum), multiply(to_floats(load_halves(eight.scale[i])), input_scale), result);
                if constexpr (T::has_minimums) {
                    const floats minimum = multiply(to_floats(load_halves(eight.minimum[i])), input_scale);
                    result = multiply_subtract(to_floats(eight.products[i]), minimum, result);
                }
            }
        }
    }
    return result;
}

// The products of up to `lanes` rows of weights from the first one on with all rows of inputs.
template <class T>
void multiply(const char * weights, size_t stride, int64_t first, int used, int64_t blocks, const row * rows, int64_t count, void * buffer) {
    const char * each[lanes];
    for (int r = 0; r < lanes; ++r) { // what is missing at the end is computed and thrown away
        each[r] = weights + (first + std::min(r, used - 1))*stride;
    }
    if (count > 1) {
        auto * panels = (panel<T> *) buffer;
        for (int64_t at = 0; at < blocks; ++at) {
            // Processors do not see this many rows coming: the next ones, in their order in memory.
            const char * ahead = each[0] + lanes*(blocks + at)*sizeof(typename T::block);
            for (size_t line = 0; line < lanes*sizeof(typename T::block); line += line_size) {
                _mm_prefetch(ahead + line, _MM_HINT_T1);
            }
            decode<T>(each, at, panels[at]);
        }
        multiply_panel<T>(panels, blocks, first, used, rows, count);
        return;
    }
    // Rows that share a vector are neighbours, so that memory is read in its order.
    const char * neighbours[lanes];
    for (int r = 0; r < lanes; ++r) {
        neighbours[r/rows_together + r%rows_together*8] = each[r];
    }
    float result[lanes];
    store(result, multiply_rows<T>(neighbours, blocks, (const input<T> *) rows->input));
    for (int r = 0; r < used; ++r) {
        rows->output[first + r] = result[r/rows_together + r%rows_together*8];
    }
}

} // namespace
