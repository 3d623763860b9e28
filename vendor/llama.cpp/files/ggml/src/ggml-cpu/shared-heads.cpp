#include "shared-heads.h"

#include "common.h"
#include "kv-rows.h"
#include "ops.h"
#include "simd-gemm.h"
#include "vec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {

// Cells that are processed together.
constexpr int64_t tile_cells = 64;
// Below this, the fixed cost of a part would show.
constexpr int64_t part_cells_min = 512;
// Several per thread, so that a slow thread does not delay the others.
constexpr int64_t items_per_thread = 8;

// How the work is divided. An item is one query with all heads that share one KV head, over one part of the cells.
struct plan {
    const ggml_tensor * q;
    const ggml_tensor * k;
    const ggml_tensor * v;
    const ggml_tensor * mask;
    int64_t DK;
    int64_t DV;
    int64_t heads; // query heads per KV head
    int64_t groups; // KV heads
    int64_t queries;
    int64_t cells;
    int64_t parts;
    int64_t part_cells;

    plan(const ggml_tensor * dst, int n_threads)
        : q(dst->src[0]), k(dst->src[1]), v(dst->src[2]), mask(dst->src[3]), DK(k->ne[0]), DV(v->ne[0]),
          heads(q->ne[2]/k->ne[2]), groups(k->ne[2]), queries(q->ne[1]), cells(k->ne[1]) {
        const int64_t wanted    = items_per_thread*n_threads/(groups*queries);
        const int64_t parts_max = (cells + part_cells_min - 1)/part_cells_min;
        parts      = std::max<int64_t>(1, std::min(wanted, parts_max));
        part_cells = (cells + parts - 1)/parts;
        part_cells = (part_cells + tile_cells - 1)/tile_cells*tile_cells;
    }

    int64_t items() const { return groups*queries*parts; }
    // The partial result of an item and head: greatest score, sum of weights, weighted sum of the values.
    int64_t partial_floats() const { return 2 + DV; }
    size_t  partials_size() const { return sizeof(float)*partial_floats()*q->ne[2]*queries*parts; }
    float * partial(void * wdata, int64_t head, int64_t query, int64_t part) const {
        return (float *) wdata + ((query*q->ne[2] + head)*parts + part)*partial_floats();
    }

    // Scratch memory of each thread: a key, weights, the values of a tile, sums.
    size_t scratch_size() const {
        const int64_t floats = DK + heads*tile_cells + tile_cells*DV + heads*DV;
        return GGML_PAD(sizeof(float)*floats, CACHE_LINE_SIZE) + CACHE_LINE_SIZE;
    }
    float * scratch(void * wdata, int thread) const {
        return (float *) ((char *) wdata + GGML_PAD(partials_size(), CACHE_LINE_SIZE) + thread*scratch_size());
    }
};

bool supports(const ggml_tensor * dst) {
    const ggml_tensor * q    = dst->src[0];
    const ggml_tensor * k    = dst->src[1];
    const ggml_tensor * v    = dst->src[2];
    const ggml_tensor * mask = dst->src[3];
    const auto is_read = [](ggml_type type) {
        return type == GGML_TYPE_F16 || type == GGML_TYPE_F32 || ggml_kv_mad(type) != nullptr;
    };
    float max_bias = 0.0f;
    memcpy(&max_bias, (const float *) dst->op_params + 1, sizeof(float));
    // Also used for single heads if keys have few bits: the usual attention would round the queries to 8 bits.
    const bool is_worth_it = q->ne[2] > k->ne[2] || ggml_kv_mad(k->type) != nullptr;
    return is_worth_it && dst->src[4] == nullptr && max_bias == 0.0f && q->type == GGML_TYPE_F32 && is_read(k->type) &&
           is_read(v->type) && q->ne[3] == 1 && k->ne[2] == v->ne[2] && q->ne[1] < GGML_FA_TILE_Q &&
           (mask == nullptr || (mask->ne[2] == 1 && mask->ne[3] == 1));
}

// Collects the next unmasked cells, at most a tile, and advances `cell` past them.
int visible_cells(const ggml_fp16_t * mask, int64_t & cell, int64_t end, int32_t * visible) {
    int n = 0;
    while (n < tile_cells) {
        if (mask) {
            cell = ggml_fa_skip_masked(mask, cell, end);
        }
        if (cell >= end) {
            break;
        }
        visible[n++] = (int32_t) cell++;
    }
    return n;
}

// Dequantizes a row: the key or the value of a cell.
void read_row(ggml_type type, const char * row, float * numbers, int64_t count) {
    if (const ggml_kv_mad_t mad = ggml_kv_mad(type)) {
        memset(numbers, 0, count*sizeof(float));
        mad((int) count, numbers, row, 1.0f);
    } else if (type == GGML_TYPE_F16) {
        ggml_cpu_fp16_to_fp32((const ggml_fp16_t *) row, numbers, count);
    } else {
        memcpy(numbers, row, count*sizeof(float));
    }
}

void compute_item(const plan & p, const ggml_tensor * dst, void * wdata, int thread, int64_t item) {
    const int64_t part  = item%p.parts;
    const int64_t query = item/p.parts%p.queries;
    const int64_t group = item/p.parts/p.queries;

    float scale   = 1.0f;
    float softcap = 0.0f;
    memcpy(&scale, (const float *) dst->op_params + 0, sizeof(float));
    memcpy(&softcap, (const float *) dst->op_params + 2, sizeof(float));
    if (softcap != 0.0f) {
        scale /= softcap;
    }

    float * key     = p.scratch(wdata, thread);
    float * weights = key + p.DK;
    float * values  = weights + p.heads*tile_cells;
    float * sums    = values + tile_cells*p.DV;

    memset(sums, 0, p.heads*p.DV*sizeof(float));

    const auto partial = [&](int64_t h) { return p.partial(wdata, group*p.heads + h, query, part); };
    for (int64_t h = 0; h < p.heads; h++) {
        partial(h)[0] = -INFINITY;
        partial(h)[1] = 0.0f;
    }

    const ggml_fp16_t * mask =
        p.mask ? (const ggml_fp16_t *) ((const char *) p.mask->data + query*p.mask->nb[1]) : nullptr;
    const char * q_data = (const char *) p.q->data + query*p.q->nb[1] + group*p.heads*p.q->nb[2];
    const char * k_data = (const char *) p.k->data + group*p.k->nb[2];
    const char * v_data = (const char *) p.v->data + group*p.v->nb[2];

    const int64_t end  = std::min(p.cells, (part + 1)*p.part_cells);
    int64_t       cell = part*p.part_cells;
    int32_t       visible[tile_cells];
    while (const int n = visible_cells(mask, cell, end, visible)) {
        for (int i = 0; i < n; i++) {
            read_row(p.k->type, k_data + visible[i]*p.k->nb[1], key, p.DK);
            const float bias = mask ? GGML_CPU_FP16_TO_FP32(mask[visible[i]]) : 0.0f;
            for (int64_t h = 0; h < p.heads; h++) {
                float score;
                ggml_vec_dot_f32((int) p.DK, &score, 0, key, 0, (const float *) (q_data + h*p.q->nb[2]), 0, 1);
                score *= scale;
                weights[h*n + i] = (softcap != 0.0f ? softcap*tanhf(score) : score) + bias;
            }
            read_row(p.v->type, v_data + visible[i]*p.v->nb[1], values + i*p.DV, p.DV);
        }
        for (int64_t h = 0; h < p.heads; h++) {
            float * row = weights + h*n;
            float   greatest;
            ggml_vec_max_f32(n, &greatest, row);
            float & before = partial(h)[0];
            float & sum    = partial(h)[1];
            if (greatest > before) {
                const float shrink = expf(before - greatest);
                ggml_vec_scale_f32((int) p.DV, sums + h*p.DV, shrink);
                sum *= shrink;
                before = greatest;
            }
            sum += (float) ggml_vec_soft_max_f32(n, row, row, before);
        }
        simd_gemm(sums, weights, values, (int) p.heads, n, (int) p.DV);
    }
    for (int64_t h = 0; h < p.heads; h++) {
        memcpy(partial(h) + 2, sums + h*p.DV, p.DV*sizeof(float));
    }
}

// Combines the partial results of one head and query, and writes the result.
void reduce(const plan & p, ggml_tensor * dst, void * wdata, int64_t head, int64_t query) {
    float * first = p.partial(wdata, head, query, 0);
    float   greatest = -INFINITY;
    for (int64_t part = 0; part < p.parts; part++) {
        greatest = std::max(greatest, p.partial(wdata, head, query, part)[0]);
    }
    float * out = (float *) ((char *) dst->data + (head + query*dst->ne[1])*dst->nb[1]);
    memset(out, 0, p.DV*sizeof(float));
    if (greatest == -INFINITY) {
        return;
    }
    float sum = 0.0f;
    for (int64_t part = 0; part < p.parts; part++) {
        const float * partial = first + part*p.partial_floats();
        const float   weight  = expf(partial[0] - greatest);
        sum += weight*partial[1];
        ggml_vec_mad_f32((int) p.DV, out, partial + 2, weight);
    }
    ggml_vec_scale_f32((int) p.DV, out, 1.0f/sum);
}

} // namespace

size_t ggml_fa_shared_heads_size(const ggml_tensor * dst, int n_threads) {
    if (!supports(dst)) {
        return 0;
    }
    const plan p(dst, n_threads);
    return GGML_PAD(p.partials_size(), CACHE_LINE_SIZE) + n_threads*p.scratch_size();
}

void ggml_fa_shared_heads(const ggml_compute_params * params, ggml_tensor * dst) {
    const plan p(dst, params->nth);
    if (params->ith == 0) {
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    for (int64_t item = params->ith; item < p.items(); item = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        compute_item(p, dst, params->wdata, params->ith, item);
    }
    ggml_barrier(params->threadpool);
    for (int64_t row = params->ith; row < p.q->ne[2]*p.queries; row += params->nth) {
        reduce(p, dst, params->wdata, row%p.q->ne[2], row/p.q->ne[2]);
    }
}
