// Products with weights that are floats, of 32 or 16 bits.
//
// Columns are taken in vectors, and vectors in blocks. Within a block, each lane adds up its own columns; then the lanes are added in
// their order, and blocks in theirs. One row of inputs is multiplied in this order as the weights are stored. For several rows, a
// panel of the weights is transposed, so that a vector has one column of many rows, and its columns are read in the same order.
#pragma once

#include "products.h"

#include "ggml-cpu.h"

namespace {

// A type has these for weights as they are stored:
// - `weight`, and how many of them are `in_lane`, in 32 bits;
// - `vector(weights)`: as many as a vector has lanes for;
// - `eight(rows, at)`: 8 lanes of each row that a vector holds, as for `transpose`;
// - `put_inputs(to, values)`: the inputs that meet them, from floats of 32 bits;
// - `add_product(sum, weights, inputs)`, in each lane.

struct single_floats {
    static constexpr int in_lane = 1;
    static void   put_inputs(floats * to, const float * values) { store((float *) to, load(values)); }
    static floats add_product(floats sum, floats weights, floats inputs) { return multiply_add(weights, inputs, sum); }
};

struct f32 : single_floats {
    using weight = float;
    static floats vector(const weight * weights) { return load(weights); }
    static ints   eight(const together<weight> & rows, size_t at) { return load_32(rows, at*sizeof(weight)); }
};

struct f16 : single_floats {
    using weight = ggml_half;
    static floats vector(const weight * weights) { return to_floats(load_half(weights)); }
    static ints   eight(const together<weight> & rows, size_t at) { return as_ints(to_floats(load_16(rows, at*sizeof(weight)))); }
};

#ifdef PANELS_HAVE_BF16

// Two weights and two inputs, all of 16 bits, are multiplied in each lane. Upstream rounds inputs to BF16, too.
struct bf16 {
    using weight = ggml_bf16_t;
    static constexpr int in_lane = 2;
    static void   put_inputs(floats * to, const float * values) {
        store((void *) to, (ints) _mm512_cvtne2ps_pbh(load(values + lanes), load(values)));
    }
    static floats vector(const weight * weights) { return load((const float *) weights); }
    static ints   eight(const together<weight> & rows, size_t at) { return load_32(rows, at*sizeof(weight)); }
    static floats add_product(floats sum, floats weights, floats inputs) {
        return _mm512_dpbf16_ps(sum, (__m512bh) weights, (__m512bh) inputs);
    }
};

#else

struct bf16 : single_floats {
    using weight = ggml_bf16_t;
    static floats vector(const weight * weights) { return as_floats(upper_words(load_half(weights))); }
    static ints   eight(const together<weight> & rows, size_t at) { return upper_words(load_16(rows, at*sizeof(weight))); }
};

#endif

constexpr int vectors_in_block = 32;

template <class T> constexpr int columns_in_vector = lanes*T::in_lane;
template <class T> constexpr int columns_in_block  = vectors_in_block*columns_in_vector<T>;

template <class T> int64_t vectors_of(int64_t columns) { return (columns + columns_in_vector<T> - 1)/columns_in_vector<T>; }
template <class T> int64_t blocks_of(int64_t columns) { return (columns + columns_in_block<T> - 1)/columns_in_block<T>; }

// The columns that block `at` has.
template <class T> int64_t columns_of_block(int64_t columns, int64_t at) {
    return std::min<int64_t>(columns_in_block<T>, columns - at*columns_in_block<T>);
}

// Rows of inputs are filled up with zeros to whole vectors. An odd number of lines keeps them from sharing the same sets of a cache.
template <class T> size_t float_input_size(int64_t columns) {
    return ((vectors_of<T>(columns)*sizeof(floats) + line_size - 1)/line_size | 1)*line_size;
}

// Block `at` of a row of inputs.
template <class T> void copy_input(const char * values, ggml_type type, int64_t columns, char * row, int64_t at) {
    const int64_t first = at*columns_in_block<T>, count = columns_of_block<T>(columns, at), vectors = vectors_of<T>(count);
    float block[columns_in_block<T>];
    switch (type) {
        case GGML_TYPE_F32:  memcpy(block, (const float *) values + first, count*sizeof(float)); break;
        case GGML_TYPE_F16:  ggml_cpu_fp16_to_fp32((const ggml_fp16_t *) values + first, block, count); break;
        case GGML_TYPE_BF16: ggml_cpu_bf16_to_fp32((const ggml_bf16_t *) values + first, block, count); break;
        default:             GGML_ABORT("inputs are not floats");
    }
    std::fill(block + count, block + vectors*columns_in_vector<T>, 0.0f);
    auto * to = (floats *) row + at*vectors_in_block;
    for (int64_t i = 0; i < vectors; ++i) {
        T::put_inputs(to + i, block + i*columns_in_vector<T>);
    }
}

// Tiles of a panel's vectors and of rows of inputs, as large as the processor has registers for.
constexpr int panel_vectors   = lanes == 16 ? 4 : 2;
constexpr int float_tile_rows = 6;

constexpr int float_panel_rows = panel_vectors*lanes;

struct panel_column {
    floats rows[panel_vectors];
};

// In a panel, a block has the columns of its first lane, then those of the second one, and so on. One column between them, which is
// not used, keeps those that are written together from sharing the same sets of a cache.
constexpr int     columns_apart    = vectors_in_block + 1;
constexpr int64_t columns_in_panel = lanes*columns_apart; // of a block

// As many blocks as stay in the level-2 cache while all rows of inputs are multiplied with them.
constexpr int64_t blocks_in_panel = lanes == 16 ? 4 : 16;

// With fewer rows of inputs, or of weights, filling a panel takes longer than it saves.
constexpr int panel_inputs_min  = 12;
constexpr int panel_weights_min = 4;

// Calls `use` with a number of up to n, as a constant.
template <int n, class F> void with_number(int64_t number, const F & use) {
    if (number == n) {
        use(std::integral_constant<int, n>{});
    } else if constexpr (n > 1) {
        with_number<n - 1>(number, use);
    }
}

// Calls `use` with the first row and the constant size of each part of all rows, in as few and equal parts of up to n rows as possible.
template <int n, class F> void in_equal_parts(int64_t count, const F & use) {
    const int64_t parts = (count + n - 1)/n;
    for (int64_t part = 0; part < parts; ++part) {
        const int64_t first = count*part/parts;
        with_number<n>(count*(part + 1)/parts - first, [&](auto size) { use(first, size); });
    }
}

// Adds to the totals the products of a panel's blocks with n rows of inputs, whose part for them begins at `from`. `next` are the
// rows that follow. If it were inlined, GCC would keep the totals in registers, and the sums in memory.
template <class T, int n>
__attribute__((noinline)) void
add_float_tile(const panel_column * panel, int64_t vectors, const row * rows, const row * next, size_t from, panel_column (&totals)[n]) {
    for (int64_t first = 0; first < vectors; first += vectors_in_block, panel += columns_in_panel) {
        const int64_t in_block = std::min<int64_t>(vectors_in_block, vectors - first);
        const char * in[n];
        const char * ahead[n];
#pragma GCC unroll 8
        for (int m = 0; m < n; ++m) {
            in[m]    = rows[m].input + from + first*sizeof(floats);
            ahead[m] = first + vectors_in_block < vectors ? in[m] + vectors_in_block*sizeof(floats) : next[m].input + from;
        }
        for (int lane = 0; lane < lanes; ++lane) {
            // All lines of these inputs are read for each lane. Those of the next block are fetched meanwhile.
            constexpr size_t fetched = vectors_in_block*sizeof(floats)/lanes;
            panel_column sums[n];
#pragma GCC unroll 8
            for (int m = 0; m < n; ++m) {
#pragma GCC unroll 8
                for (floats & sum : sums[m].rows) {
                    sum = all(0.0f);
                }
                for (size_t line = 0; line < fetched; line += line_size) {
                    _mm_prefetch(ahead[m] + lane*fetched + line, _MM_HINT_T0);
                }
            }
            const panel_column * weights = panel + lane*columns_apart;
            const panel_column * end     = weights + in_block;
            for (size_t at = lane*sizeof(float); weights < end; ++weights, at += sizeof(floats)) {
                const panel_column column = *weights;
#pragma GCC unroll 8
                for (int m = 0; m < n; ++m) {
                    const floats value = all(a_float(in[m] + at));
#pragma GCC unroll 8
                    for (int v = 0; v < panel_vectors; ++v) {
                        sums[m].rows[v] = T::add_product(sums[m].rows[v], column.rows[v], value);
                    }
                }
            }
#pragma GCC unroll 8
            for (int m = 0; m < n; ++m) {
#pragma GCC unroll 8
                for (int v = 0; v < panel_vectors; ++v) {
                    totals[m].rows[v] = add(totals[m].rows[v], sums[m].rows[v]);
                }
            }
        }
    }
}

// A copy of the last columns of a row of weights, filled up with zeros to a vector.
template <class T> struct last_vector {
    typename T::weight weights[columns_in_vector<T>] = {};

    last_vector(const typename T::weight * row, int64_t columns) {
        const int64_t count = columns%columns_in_vector<T>;
        memcpy(weights, row + columns - count, count*sizeof(weights[0]));
    }
};

// Transposes a vector of each of `lanes` rows to one vector of every lane's next column.
template <class T> void transpose_to_panel(const typename T::weight * const (&rows)[lanes], int64_t first, panel_column * to, int vector) {
    for (int part = 0; part < lanes; part += 8) {
        ints eight[8];
        for (int r = 0; r < 8; ++r) {
            together<typename T::weight> each;
            for (int k = 0; k < blocks_together; ++k) {
                each.each[k] = rows[r + 8*k];
            }
            eight[r] = T::eight(each, first + part*T::in_lane);
        }
        transpose(eight);
        for (int i = 0; i < 8; ++i) {
            to[(part + i)*columns_apart].rows[vector] = as_floats(eight[i]);
        }
    }
}

template <class T> void fill_panel(const char * weights, size_t stride, int used, int64_t columns, panel_column * panel) {
    using weight = typename T::weight;
    const int64_t whole = columns/columns_in_vector<T>;
    const auto column_of = [&](int64_t at) { return panel + at/vectors_in_block*columns_in_panel + at%vectors_in_block; };
    for (int vector = 0; vector*lanes < used; ++vector) {
        const weight * rows[lanes];
        for (int r = 0; r < lanes; ++r) { // missing rows at the end are computed and discarded
            rows[r] = (const weight *) (weights + std::min(vector*lanes + r, used - 1)*stride);
        }
        for (int64_t at = 0; at < whole; ++at) {
            transpose_to_panel<T>(rows, at*columns_in_vector<T>, column_of(at), vector);
        }
        if (whole < vectors_of<T>(columns)) {
            weight last[lanes][columns_in_vector<T>];
            for (int r = 0; r < lanes; ++r) {
                memcpy(last[r], last_vector<T>(rows[r], columns).weights, sizeof(last[r]));
                rows[r] = last[r];
            }
            transpose_to_panel<T>(rows, 0, column_of(whole), vector);
        }
    }
}

// The products of up to a panel's number of rows of weights with all rows of inputs.
template <class T>
void multiply_with_panels(const char * weights, size_t stride, int64_t first, int used, int64_t columns, const row * rows, int64_t count, panel_column * panel) {
    constexpr int64_t columns_at_once = blocks_in_panel*columns_in_block<T>;
    for (int64_t at = 0; at < columns; at += columns_at_once) {
        const int64_t some = std::min(columns_at_once, columns - at);
        fill_panel<T>(weights + at*sizeof(typename T::weight), stride, used, some, panel);
        in_equal_parts<float_tile_rows>(count, [&](int64_t part, auto size) {
            const row * tile = rows + part;
            panel_column totals[size] = {};
            for (int m = 0; at > 0 && m < size; ++m) {
                memcpy(totals + m, tile[m].output + first, used*sizeof(float));
            }
            const row * next = part + 2*size <= count ? tile + size : tile;
            add_float_tile<T, size>(panel, vectors_of<T>(some), tile, next, at/T::in_lane*sizeof(float), totals);
            for (int m = 0; m < size; ++m) {
                memcpy(tile[m].output + first, totals + m, used*sizeof(float));
            }
        });
    }
}

// Rows of weights as they are stored.
template <class T> struct stored_rows {
    static constexpr int64_t bytes_in_block = columns_in_block<T>*sizeof(typename T::weight);

    const char * weights;
    size_t       stride;
    int          used;
    int64_t      columns;
    int64_t      blocks = blocks_of<T>(columns);

    const char * part(int64_t block, int64_t row) const { return weights + row*stride + block*bytes_in_block; }
};

// Puts the sums of a block of a row of weights in each lane, for n rows of inputs, or those of several neighbouring whole blocks. The
// weights at `ahead` are fetched meanwhile.
template <class T, int n, int blocks = 1>
void sum_stored_block(const stored_rows<T> & stored, int64_t block, int64_t r, const char * ahead, const row * rows, floats * to) {
    const auto * weights = (const typename T::weight *) stored.part(block, r);
    const int64_t columns = columns_of_block<T>(stored.columns, block), whole = columns/columns_in_vector<T>;
    const char * in[n];
    floats sums[blocks][n];
#pragma GCC unroll 16
    for (int m = 0; m < n; ++m) {
        in[m] = rows[m].input + block*vectors_in_block*sizeof(floats);
#pragma GCC unroll 16
        for (int b = 0; b < blocks; ++b) {
            sums[b][m] = all(0.0f);
        }
    }
    const auto add_products = [&](int b, floats vector, size_t at) {
#pragma GCC unroll 16
        for (int m = 0; m < n; ++m) {
            sums[b][m] = T::add_product(sums[b][m], vector, load((const float *) (in[m] + at*sizeof(floats))));
        }
    };
    for (int64_t i = 0; i < whole; ++i) {
#pragma GCC unroll 16
        for (int b = 0; b < blocks; ++b) {
            const int64_t at = i + b*vectors_in_block;
            _mm_prefetch(ahead + at*columns_in_vector<T>*sizeof(*weights), _MM_HINT_T0);
            add_products(b, T::vector(weights + at*columns_in_vector<T>), at);
        }
    }
    if (whole < vectors_of<T>(columns)) {
        add_products(0, T::vector(last_vector<T>(weights, columns).weights), whole);
    }
#pragma GCC unroll 16
    for (int b = 0; b < blocks; ++b) {
#pragma GCC unroll 16
        for (int m = 0; m < n; ++m) {
            to[(b*n + m)*lanes] = sums[b][m];
        }
    }
}

// Adds, in their order, the lanes of the sums of a block for each row of weights.
inline void add_lanes(const floats * sums, int used, floats & totals) {
    floats each[lanes];
    for (int r = 0; r < lanes; ++r) {
        each[r] = sums[std::min(r, used - 1)];
    }
    transpose_lanes(each);
    for (const floats & lane : each) {
        totals = add(totals, lane);
    }
}

// How many blocks are multiplied with one row of inputs at a time. A sum waits for the one before; with 8 lanes and 16 bits, that takes
// longer than memory.
template <class T> constexpr int blocks_at_once = lanes == 8 && sizeof(typename T::weight) == 2 ? 4 : 1;

// The products of up to `lanes` rows of weights with one row of inputs, as the weights are stored. From memory, weights are read
// fastest when each row is read to its end before the next.
template <class T> void multiply_stored(const stored_rows<T> & stored, const row * rows, floats * sums, floats (&totals)[1]) {
    const auto sum_blocks = [&](int64_t block, int r, auto count) {
        sum_stored_block<T, 1, count>(stored, block, r, stored.part(block, r) + prefetch_distance, rows, sums + block*lanes + r);
    };
    for (int r = 0; r < stored.used; ++r) {
        int64_t block = 0;
        for (; (block + blocks_at_once<T>)*columns_in_block<T> <= stored.columns; block += blocks_at_once<T>) {
            sum_blocks(block, r, std::integral_constant<int, blocks_at_once<T>>{});
        }
        for (; block < stored.blocks; ++block) {
            sum_blocks(block, r, std::integral_constant<int, 1>{});
        }
    }
    for (int64_t block = 0; block < stored.blocks; ++block) {
        add_lanes(sums + block*lanes, stored.used, *totals);
    }
}

// The same with n rows of inputs, of which a block should stay in the level-1 cache.
template <class T, int n> void multiply_stored(const stored_rows<T> & stored, const row * rows, floats * sums, floats (&totals)[n]) {
    for (int64_t block = 0; block < stored.blocks; ++block) {
        for (int r = 0; r < stored.used; ++r) {
            const int64_t next = r + prefetch_distance/stored.bytes_in_block;
            const char * ahead = next < stored.used           ? stored.part(block, next)
                               : block + 1 < stored.blocks ? stored.part(block + 1, next - stored.used)
                                                           : stored.part(0, next);
            sum_stored_block<T, n>(stored, block, r, ahead, rows, sums + r);
        }
        for (int m = 0; m < n; ++m) {
            add_lanes(sums + m*lanes, stored.used, totals[m]);
        }
    }
}

// The bytes of memory that `multiply_floats` needs.
template <class T> size_t float_buffer_size(int64_t columns) {
    const int64_t blocks = blocks_of<T>(columns);
    return std::max<size_t>(std::min(blocks, blocks_in_panel)*columns_in_panel*sizeof(panel_column),
                            std::max<int64_t>(blocks, panel_inputs_min - 1)*lanes*sizeof(floats));
}

// The products of up to a panel's number of the `width` rows of weights, starting with the first one, with all rows of inputs.
template <class T>
void multiply_floats(const char * weights, size_t stride, int64_t first, int64_t width, int64_t columns, const row * rows, int64_t count, void * buffer) {
    const int used = (int) std::min<int64_t>(float_panel_rows, width - first);
    weights += first*stride;
    if (count >= panel_inputs_min && used >= panel_weights_min) {
        multiply_with_panels<T>(weights, stride, first, used, columns, rows, count, (panel_column *) buffer);
        return;
    }
    for (int done = 0; done < used; done += lanes) {
        const stored_rows<T> stored = {weights + done*stride, stride, std::min(lanes, used - done), columns};
        in_equal_parts<panel_inputs_min - 1>(count, [&](int64_t part, auto size) {
            floats totals[size] = {};
            multiply_stored(stored, rows + part, (floats *) buffer, totals);
            for (int m = 0; m < size; ++m) {
                put_result(totals[m], rows[part + m].output + first + done, stored.used);
            }
        });
    }
}

} // namespace
