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

// The sums of a block of one row in lanes, which are still to be added.
template <class T> inline __m256i sum_row_block(const typename T::block * block, const input<T> & in) {
    __m256i sum    = _mm256_setzero_si256();
    __m256i scales = _mm256_set1_epi16(1);
    if constexpr (has_scales<T>) {
        scales = T::scales(block);
        if constexpr (!T::has_minimums && !is_signed_in_pairs<T>) {
            sum = _mm256_mullo_epi32(_mm256_madd_epi16(scales, load_32(in.sums)), _mm256_set1_epi32(-T::offset));
        }
        // For weights 32*j and following, pair j has the scale of the first 16 in its lower half.
        const __m256i evens = _mm256_setr_epi64x(0x0d0c090805040100, 0x0f0e0b0a07060302, 0x0d0c090805040100, 0x0f0e0b0a07060302);
        scales = T::sub_blocks == 16 ? _mm256_permute4x64_epi64(_mm256_shuffle_epi8(scales, evens), 0xd8)
                                     : _mm256_permute2x128_si256(scales, scales, 0);
    }
#pragma GCC unroll 8
    for (int j = 0; j < T::columns/32; ++j) {
        const __m256i values = load_32(in.values + 32*j);
        __m256i bytes = T::weights(block, j);
        __m256i pairs;
        if constexpr (is_signed_in_pairs<T>) {
            bytes = _mm256_sub_epi8(bytes, _mm256_set1_epi8((char) T::offset));
            pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), _mm256_sign_epi8(values, bytes));
        } else {
            pairs = _mm256_maddubs_epi16(bytes, values);
        }
        const __m256i factor = has_scales<T> ? _mm256_shuffle_epi8(scales, _mm256_set1_epi16((short) (0x0100 + 0x0202*j))) : scales;
        sum = T::columns == 32 ? _mm256_madd_epi16(pairs, factor) : dot_pairs(sum, pairs, factor);
    }
    return sum;
}

// What 8 blocks of 8 rows give: of each row, the 8 blocks in lanes.
struct eight_blocks {
    __m256i sums[8];
    __m256i products[8];
    __m256i scale[8];
    __m256i minimum[8];
};

template <class T> void sum_row_blocks(const typename T::block * blocks, const input<T> * in, int64_t count, eight_blocks & to, int r) {
    __m256i sums[8];
    __m256i products[8];
    float   scale[8];
    float   minimum[8];
    // The rows are read in their order in memory; this is what follows some rows later.
    for (size_t line = 0; line < 8*sizeof(typename T::block); line += line_size) {
        _mm_prefetch((const char *) blocks + 12288 + line, _MM_HINT_T1);
    }
    const auto add_block = [&](int i) {
        scale[i] = T::scale(blocks + i);
        sums[i]  = sum_row_block<T>(blocks + i, in[i]);
        if constexpr (T::has_minimums) {
            products[i] = _mm256_madd_epi16(T::scales(blocks + i), load_32(in[i].sums));
            minimum[i]  = T::minimum(blocks + i);
        }
    };
    if (count >= 8) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
            add_block(i);
        }
    } else {
        for (int i = 0; i < 8; ++i) {
            sums[i]     = _mm256_setzero_si256();
            products[i] = _mm256_setzero_si256();
            scale[i]    = 0;
            minimum[i]  = 0;
        }
        for (int i = 0; i < count; ++i) {
            add_block(i);
        }
    }
    to.sums[r]  = sums_of(sums);
    to.scale[r] = _mm256_castps_si256(_mm256_loadu_ps(scale));
    if constexpr (T::has_minimums) {
        to.products[r] = sums_of(products);
        to.minimum[r]  = _mm256_castps_si256(_mm256_loadu_ps(minimum));
    }
}

// The products of 8 rows of weights with one row of inputs, without panels: the same sums in the same order.
template <class T> __m256 multiply_rows(const char * const * weights, int64_t blocks, const input<T> * in) {
    // A row's next blocks are taken together, because memory is read fastest in its order.
    constexpr int64_t part = has_scales<T> ? 16 : 64;
    eight_blocks found[part/8];
    __m256 result = _mm256_setzero_ps();
    for (int64_t first = 0; first < blocks; first += part) {
        const int64_t end = std::min(part, blocks - first);
        for (int r = 0; r < 8; ++r) {
            const auto * row_blocks = (const typename T::block *) weights[r] + first;
            for (int64_t at = 0; at < end; at += 8) {
                sum_row_blocks<T>(row_blocks + at, in + first + at, end - at, found[at/8], r);
            }
        }
        for (int64_t at = 0; at < end; at += 8) {
            eight_blocks & eight = found[at/8];
            transpose(eight.sums);
            transpose(eight.scale);
            if constexpr (T::has_minimums) {
                transpose(eight.products);
                transpose(eight.minimum);
            }
            for (int64_t i = 0; i < std::min<int64_t>(8, end - at); ++i) {
                const input<T> & from = in[first + at + i];
                __m256i sum = eight.sums[i];
                if constexpr (!has_scales<T> && !is_signed_in_pairs<T>) {
                    sum = _mm256_add_epi32(sum, _mm256_set1_epi32(from.excess[0]));
                }
                const __m256 input_scale = _mm256_set1_ps(from.scale);
                const __m256 scale = _mm256_mul_ps(_mm256_castsi256_ps(eight.scale[i]), input_scale);
                result = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, result);
                if constexpr (T::has_minimums) {
                    const __m256 minimum = _mm256_mul_ps(_mm256_castsi256_ps(eight.minimum[i]), input_scale);
                    result = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(eight.products[i]), minimum, result);
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
    for (int r = 0; r < used; r += 8) {
        float result[8];
        _mm256_storeu_ps(result, multiply_rows<T>(each + r, blocks, (const input<T> *) rows->input));
        memcpy(rows->output + first + r, result, std::min(8, used - r)*sizeof(float));
    }
}

} // namespace
