#include "weight-panels.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)

#include "panels/floats.h"

namespace {

struct kernels {
    int    panel_rows;
    int    columns; // of a block
    int    rows_min;
    size_t (*input_size)(int64_t columns);
    size_t (*buffer_size)(int64_t columns);
    void (*put_input)(const char * values, ggml_type type, int64_t columns, char * row, int64_t at);
    void (*multiply)(const char * weights, size_t stride, int64_t first, int64_t width, int64_t columns, const row * rows, int64_t count, void * buffer);
};

template <class T> const kernels * kernels_for() {
    static constexpr kernels found = {
        lanes, T::columns, T::rows_min,
        [](int64_t columns) { return (size_t) (columns/T::columns + blocks_together - 1)/blocks_together*input<T>::size; },
        [](int64_t columns) { return buffer_size<T>(columns/T::columns); },
        [](const char * values, ggml_type, int64_t, char * row, int64_t at) { round_input<T>((const float *) values + at*T::columns, row, at); },
        [](const char * weights, size_t stride, int64_t first, int64_t width, int64_t columns, const row * rows, int64_t count, void * buffer) {
            multiply<T>(weights, stride, first, width, columns/T::columns, rows, count, buffer);
        }};
    return &found;
}

template <class T> const kernels * kernels_for_floats() {
    static constexpr kernels found = {float_panel_rows, columns_in_block<T>, 1, float_input_size<T>, float_buffer_size<T>, copy_input<T>, multiply_floats<T>};
    return &found;
}

const kernels * kernels_of(ggml_type type) {
    switch (type) {
        case GGML_TYPE_F32:    return kernels_for_floats<f32>();
        case GGML_TYPE_F16:    return kernels_for_floats<f16>();
        case GGML_TYPE_BF16:   return kernels_for_floats<bf16>();
        case GGML_TYPE_Q4_0:   return kernels_for<q4_0>();
        case GGML_TYPE_Q5_0:   return kernels_for<q5_0>();
        case GGML_TYPE_Q8_0:   return kernels_for<q8_0>();
        case GGML_TYPE_IQ4_NL: return kernels_for<iq4_nl>();
        case GGML_TYPE_MXFP4:  return kernels_for<mxfp4>();
        case GGML_TYPE_Q2_K:   return kernels_for<q2_K>();
        case GGML_TYPE_Q3_K:   return kernels_for<q3_K>();
        case GGML_TYPE_Q4_K:   return kernels_for<q4_K>();
        case GGML_TYPE_Q5_K:   return kernels_for<q5_K>();
        case GGML_TYPE_Q6_K:   return kernels_for<q6_K>();
        case GGML_TYPE_IQ4_XS:  return kernels_for<iq4_xs>();
        case GGML_TYPE_IQ3_S:   return kernels_for<iq3_s>();
        case GGML_TYPE_IQ3_XXS: return kernels_for<iq3_xxs>();
        case GGML_TYPE_IQ2_S:   return kernels_for<iq2_s>();
        case GGML_TYPE_IQ2_XS:  return kernels_for<iq2_xs>();
        case GGML_TYPE_IQ2_XXS: return kernels_for<iq2_xxs>();
        case GGML_TYPE_IQ1_S:   return kernels_for<iq1_s>();
        case GGML_TYPE_IQ1_M:   return kernels_for<iq1_m>();
        default:               return nullptr;
    }
}

// Enough parts that fast threads still find work while slow ones finish.
constexpr int64_t items_per_thread = 8;

// What is computed, and the layout of the working memory. Without experts, rows belong to the matrix that meets them.
struct plan {
    const ggml_tensor * dst;
    const ggml_tensor * weights;
    const ggml_tensor * inputs;
    const ggml_tensor * ids; // of experts, or none
    const kernels *     type;
    int64_t             columns;
    int64_t             blocks;
    int64_t             input_rows;
    int64_t             experts;
    int64_t             rows;
    size_t              input_row_size;
    size_t              rows_at;
    size_t              starts_at;
    size_t              buffers_at;
    size_t              buffer_size;

    explicit plan(const ggml_tensor * dst)
        : dst(dst), weights(dst->src[0]), inputs(dst->src[1]), ids(dst->op == GGML_OP_MUL_MAT_ID ? dst->src[2] : nullptr),
          type(kernels_of(weights->type)), columns(weights->ne[0]), blocks((columns + type->columns - 1)/type->columns),
          input_rows(ggml_nrows(inputs)), experts(weights->ne[2]*weights->ne[3]), rows(ids ? ids->ne[0]*ids->ne[1] : input_rows),
          input_row_size(type->input_size(columns)), rows_at(GGML_PAD(input_rows*input_row_size, line_size)),
          starts_at(rows_at + rows*sizeof(row)),
          buffers_at(GGML_PAD(starts_at + (experts + 1)*sizeof(int64_t), line_size)),
          buffer_size(GGML_PAD(type->buffer_size(columns), line_size)) {}

    size_t size(int n_threads) const { return buffers_at + n_threads*buffer_size + line_size; }
};

// Whether there are enough rows of inputs for panels to be faster; with experts, for each of them if all are chosen equally often.
bool has_enough_rows(const ggml_tensor * dst) {
    const int rows_min = kernels_of(dst->src[0]->type)->rows_min;
    return rows_min == 1 || (dst->op == GGML_OP_MUL_MAT_ID ? ggml_nelements(dst->src[2]) >= rows_min*dst->src[0]->ne[2]
                                                           : ggml_nrows(dst->src[1]) >= rows_min);
}

bool is_float(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

// Weights and inputs may be views with any strides, but those of a row must be neighbours. There may be several matrices, each for as
// many neighbouring matrices of inputs. Inputs of a matrix that meets several in both dimensions, which no graph has, are upstream's.
bool is_supported(const ggml_tensor * dst) {
    const ggml_tensor * weights = dst->src[0];
    const ggml_tensor * inputs  = dst->src[1];
    const bool has_matrices = dst->op == GGML_OP_MUL_MAT_ID
        ? weights->ne[3] == 1
        : dst->op == GGML_OP_MUL_MAT && (weights->ne[2] == 1 || weights->ne[3] == inputs->ne[3]);
    return kernels_of(weights->type) != nullptr && has_matrices && weights->nb[0] == ggml_type_size(weights->type) &&
           (inputs->type == GGML_TYPE_F32 || (is_float(inputs->type) && is_float(weights->type))) &&
           inputs->nb[0] == ggml_type_size(inputs->type) && dst->type == GGML_TYPE_F32 && dst->nb[0] == sizeof(float) &&
           has_enough_rows(dst);
}

const char * row_of(const ggml_tensor * tensor, int64_t i) {
    const int64_t i1 = i%tensor->ne[1], i2 = i/tensor->ne[1]%tensor->ne[2], i3 = i/tensor->ne[1]/tensor->ne[2];
    return (const char *) tensor->data + i1*tensor->nb[1] + i2*tensor->nb[2] + i3*tensor->nb[3];
}

// Puts this thread's part of the inputs to the working memory.
void put_inputs(const plan & p, char * memory, int ith, int nth) {
    const int64_t count = p.input_rows*p.blocks;
    for (int64_t i = count*ith/nth; i < count*(ith + 1)/nth; ++i) {
        const int64_t row = i/p.blocks, at = i%p.blocks;
        p.type->put_input(row_of(p.inputs, row), p.inputs->type, p.columns, memory + row*p.input_row_size, at);
    }
}

// Lists the rows by expert.
void list_rows(const plan & p, char * memory) {
    auto * rows   = (row *) (memory + p.rows_at);
    auto * starts = (int64_t *) (memory + p.starts_at);
    if (p.ids == nullptr) {
        for (int64_t i = 0; i < p.rows; ++i) {
            rows[i] = {memory + i*p.input_row_size, (float *) row_of(p.dst, i)};
        }
        for (int64_t expert = 0; expert <= p.experts; ++expert) {
            starts[expert] = expert*(p.rows/p.experts);
        }
        return;
    }
    const auto expert_of = [&](int64_t i) {
        const int64_t use = i%p.ids->ne[0], token = i/p.ids->ne[0];
        const int32_t expert = *(const int32_t *) ((const char *) p.ids->data + use*p.ids->nb[0] + token*p.ids->nb[1]);
        GGML_ASSERT(expert >= 0 && expert < p.experts);
        return expert;
    };
    std::fill(starts, starts + p.experts + 1, 0);
    for (int64_t i = 0; i < p.rows; ++i) {
        ++starts[expert_of(i) + 1];
    }
    for (int64_t expert = 0; expert < p.experts; ++expert) {
        starts[expert + 1] += starts[expert];
    }
    // Filling moves each start to its end, which is the next one's start; afterwards they are moved back.
    for (int64_t i = 0; i < p.rows; ++i) {
        const int64_t use = i%p.ids->ne[0], token = i/p.ids->ne[0];
        const int64_t input_row = token*p.inputs->ne[1] + use%p.inputs->ne[1];
        rows[starts[expert_of(i)]++] = {memory + input_row*p.input_row_size, (float *) row_of(p.dst, i)};
    }
    std::copy_backward(starts, starts + p.experts, starts + p.experts + 1);
    starts[0] = 0;
}

} // namespace

bool ggml_panels_hold(const ggml_tensor * weights) {
    return ggml_is_quantized(weights->type) && kernels_of(weights->type) != nullptr;
}

size_t ggml_panels_size(const ggml_tensor * dst, int n_threads) {
    return is_supported(dst) ? plan(dst).size(n_threads) : 0;
}

void ggml_panels_mul_mat(const ggml_compute_params * params, ggml_tensor * dst) {
    const plan p(dst);
    GGML_ASSERT(params->wsize >= p.size(params->nth));
    auto * memory = (char *) GGML_PAD((uintptr_t) params->wdata, line_size);
    put_inputs(p, memory, params->ith, params->nth);
    if (params->ith == 0) {
        list_rows(p, memory);
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);

    const auto *  rows   = (const row *) (memory + p.rows_at);
    const auto *  starts = (const int64_t *) (memory + p.starts_at);
    void *        buffer = memory + p.buffers_at + params->ith*p.buffer_size;
    const int64_t width  = p.weights->ne[1];
    const int64_t height = p.type->panel_rows;
    const int64_t groups = (width + height - 1)/height;
    const int64_t share  = std::max<int64_t>(1, groups/(params->nth*items_per_thread));
    const int64_t items  = (groups + share - 1)/share; // of each expert
    for (int64_t item = params->ith; item < items*p.experts; item = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t expert = item/items;
        const int64_t count  = starts[expert + 1] - starts[expert];
        if (count == 0) {
            continue;
        }
        const char *  weights = row_of(p.weights, expert*width);
        const int64_t end     = std::min(groups, (item%items + 1)*share);
        for (int64_t group = item%items*share; group < end; ++group) {
            p.type->multiply(weights, p.weights->nb[1], group*height, width, p.columns, rows + starts[expert], count, buffer);
        }
    }
}

#else

bool ggml_panels_hold(const ggml_tensor *) {
    return false;
}

size_t ggml_panels_size(const ggml_tensor *, int) {
    return 0;
}

void ggml_panels_mul_mat(const ggml_compute_params *, ggml_tensor *) {
    GGML_ABORT("no panels");
}

#endif
