#include "ordered-attention.h"

#include "common.h"
#include "key-tile.h"
#include "ops.h"
#include "simd-gemm.h"

#include <algorithm>
#include <cmath>

namespace {

// Cells that are processed together, and cells whose results are combined with those of others. Both are counted from the
// beginning of a sequence, so that neither its queries nor the threads change what is added to what.
constexpr int64_t tile_cells = 64;
constexpr int64_t part_cells = 512;
// Pairs of a query and a head that are processed together.
constexpr int64_t block_rows = 64;
// With fewer blocks per thread, threads share the parts of a block.
constexpr int64_t blocks_per_thread = 4;

int64_t padded(int64_t count) {
    return (count + key_group - 1)/key_group*key_group;
}

// What a query gets from some cells: the greatest score, the sum of the weights, and the weighted sum of the values.
struct result {
    float * greatest;
    float * weights;
    float * values;
};

// What an operation computes, and how it is divided into blocks: queries that see the same cells or a beginning of them, with
// heads that share a KV head.
struct plan {
    const ggml_tensor * dst;
    const ggml_tensor * q;
    const ggml_tensor * k;
    const ggml_tensor * v;
    const ggml_tensor * mask;
    const int32_t * ranges; // three numbers for each query, see llama-ordered-cells.h
    const int32_t * lists;
    int64_t DK;
    int64_t DV;
    int64_t values; // DV, padded
    int64_t heads; // query heads per KV head
    int64_t groups; // KV heads
    int64_t queries; // of all streams
    int64_t stream_queries;
    int64_t cells;
    int64_t block_heads;
    int64_t block_queries;
    int64_t head_blocks;
    int64_t parts;
    bool    is_split; // an item is a part of a block, not all of it
    float   scale;
    float   max_bias;
    float   softcap;

    plan(const ggml_tensor * dst, int n_threads)
        : dst(dst), q(dst->src[0]), k(dst->src[1]), v(dst->src[2]), mask(dst->src[3]), DK(k->ne[0]), DV(v->ne[0]),
          values(padded(v->ne[0])), heads(q->ne[2]/k->ne[2]), groups(k->ne[2]), queries(q->ne[1]*q->ne[3]),
          stream_queries(q->ne[1]), cells(k->ne[1]) {
        const ggml_tensor * ordered = dst->src[5];
        ranges = ordered ? (const int32_t *) ordered->data : nullptr;
        lists  = ranges ? ranges + 3*queries : nullptr;

        block_heads   = std::min(heads, block_rows);
        block_queries = std::min(std::max<int64_t>(1, block_rows/heads), queries);
        head_blocks   = (heads + block_heads - 1)/block_heads;
        parts         = (cells + 2*part_cells - 2)/part_cells;
        is_split      = cells > part_cells && groups*head_blocks*queries < blocks_per_thread*n_threads;

        memcpy(&scale,    (const float *) dst->op_params + 0, sizeof(float));
        memcpy(&max_bias, (const float *) dst->op_params + 1, sizeof(float));
        memcpy(&softcap,  (const float *) dst->op_params + 2, sizeof(float));
        if (softcap != 0.0f) {
            scale /= softcap;
        }
    }

    const char * mask_row(int64_t query) const {
        return (const char *) mask->data + query%stream_queries*mask->nb[1] + query/stream_queries%mask->ne[3]*mask->nb[3];
    }

    // In params->wdata: how many blocks of queries there are, where they begin and end, results of parts, scratch memory of each
    // thread.
    int32_t * starts(void * wdata) const { return (int32_t *) wdata; }
    size_t starts_size() const { return GGML_PAD(sizeof(int32_t)*(queries + 2), CACHE_LINE_SIZE); }

    size_t results_size() const {
        return is_split ? GGML_PAD(sizeof(float)*(2 + values)*q->ne[2]*queries*parts, CACHE_LINE_SIZE) : 0;
    }
    result result_of(void * wdata, int64_t head, int64_t query, int64_t part) const {
        float * results = (float *) ((char *) wdata + starts_size());
        float * numbers = results + ((query*q->ne[2] + head)*parts + part)*(2 + values);
        return { numbers, numbers + 1, numbers + 2 };
    }

    int64_t rows_max() const { return block_heads*block_queries; }
    size_t scratch_size() const {
        const int64_t floats =
            rows_max()*(DK + tile_cells + 2*(2 + values)) + tile_cells*(DK + values) + key_group*DK;
        const int64_t listed = mask && !ranges ? cells : 0;
        return GGML_PAD(sizeof(float)*floats + sizeof(int32_t)*listed, CACHE_LINE_SIZE) + CACHE_LINE_SIZE;
    }
    float * scratch(void * wdata, int thread) const {
        return (float *) ((char *) wdata + starts_size() + results_size() + thread*scratch_size());
    }
};

// Combines the result of a part with that of the parts before it.
void combine(const result & total, const result & part, int64_t count) {
    if (*part.greatest == -INFINITY) {
        return;
    }
    const float greatest = std::max(*total.greatest, *part.greatest);
    const float before   = expf(*total.greatest - greatest);
    const float added    = expf(*part.greatest - greatest);
    *total.greatest = greatest;
    *total.weights  = std::fma(*total.weights, before, *part.weights*added); // no compiler chooses which product it rounds
    ggml_vec_scale_f32((int) count, total.values, before);
    ggml_vec_mad_f32((int) count, total.values, part.values, added);
}

void clear(const result & r, int64_t count) {
    *r.greatest = -INFINITY;
    *r.weights  = 0.0f;
    memset(r.values, 0, count*sizeof(float));
}

// Adds the sink of a head, and writes what a query gets.
void finish(const plan & p, const result & total, int64_t head, int64_t query) {
    float weights = *total.weights;
    if (const ggml_tensor * sinks = p.dst->src[4]) {
        const float sink = ((const float *) sinks->data)[head];
        if (sink > *total.greatest) {
            const float before = expf(*total.greatest - sink);
            ggml_vec_scale_f32((int) p.values, total.values, before);
            weights = weights*before + 1.0f;
        } else {
            weights += expf(sink - *total.greatest);
        }
    }
    ggml_vec_scale_f32((int) p.values, total.values, weights == 0.0f ? 0.0f : 1.0f/weights);
    memcpy((char *) p.dst->data + (head + query*p.dst->ne[1])*p.dst->nb[1], total.values, p.DV*sizeof(float));
}

// The greatest of a multiple of 16 numbers.
float greatest_of(const float * numbers, int64_t count) {
    float lanes[key_group];
    std::copy(numbers, numbers + key_group, lanes);
    for (int64_t i = key_group; i < count; i += key_group) {
        for (int64_t lane = 0; lane < key_group; lane++) {
            lanes[lane] = numbers[i + lane] > lanes[lane] ? numbers[i + lane] : lanes[lane];
        }
    }
    return *std::max_element(lanes, lanes + key_group);
}

// A block in the hands of a thread.
class block {
  public:
    block(const plan & p, float * scratch, int64_t group, int64_t head, int64_t query, int64_t queries)
        : p_(p), group_(group), first_head_(group*p.heads + head), heads_(std::min(p.block_heads, p.heads - head)),
          first_query_(query), rows_(queries*heads_), stream_(query/p.stream_queries) {
        queries_ = scratch;
        scores_  = queries_ + p.rows_max()*p.DK;
        sums_    = scores_ + p.rows_max()*tile_cells;
        totals_  = sums_ + p.rows_max()*(2 + p.values);
        keys_    = totals_ + p.rows_max()*(2 + p.values);
        group_keys_ = keys_ + tile_cells*p.DK;
        values_  = group_keys_ + key_group*p.DK;
        gathered_ = (int32_t *) (values_ + tile_cells*p.values);
        for (int64_t row = 0; row < rows_; row++) {
            memcpy(queries_ + row*p.DK,
                   (const char *) p.q->data + query_of(row)%p.stream_queries*p.q->nb[1] + head_of(row)*p.q->nb[2] +
                       stream_*p.q->nb[3],
                   p.DK*sizeof(float));
        }
        memset(values_, 0, tile_cells*p.values*sizeof(float));
        find_cells(queries);
    }

    // All parts, one after the other.
    void compute() {
        for (int64_t row = 0; row < rows_; row++) {
            clear(total(row), p_.values);
        }
        for (int64_t part = begin_/part_cells; part*part_cells < end_; part++) {
            compute_part(part);
            for (int64_t row = 0; row < rows_; row++) {
                combine(total(row), sum(row), p_.values);
            }
        }
        for (int64_t row = 0; row < rows_; row++) {
            finish(p_, total(row), head_of(row), query_of(row));
        }
    }

    // Only one of them, counted from the first that the block sees.
    void compute_only(int64_t part, void * wdata) {
        compute_part(begin_/part_cells + part);
        for (int64_t row = 0; row < rows_; row++) {
            const result from = sum(row);
            const result to   = p_.result_of(wdata, head_of(row), query_of(row), part);
            *to.greatest = *from.greatest;
            *to.weights  = *from.weights;
            memcpy(to.values, from.values, p_.values*sizeof(float));
        }
    }

  private:
    int64_t query_of(int64_t row) const { return first_query_ + row/heads_; }
    int64_t head_of(int64_t row) const { return first_head_ + row%heads_; }
    // Of a part, and of the parts so far. The values of all rows are a matrix, behind the rows' other two numbers.
    result sum(int64_t row) const { return row_of(sums_, row); }
    result total(int64_t row) const { return row_of(totals_, row); }
    result row_of(float * numbers, int64_t row) const {
        return { numbers + 2*row, numbers + 2*row + 1, numbers + 2*p_.rows_max() + row*p_.values };
    }

    int64_t begin_of(int64_t query) const { return p_.ranges ? p_.ranges[3*query + 1] : begin_; }
    int64_t end_of(int64_t query) const { return p_.ranges ? p_.ranges[3*query + 2] : end_; }

    int64_t cell_at(int64_t ordinal) const { return list_ ? list_[list_begin_ + ordinal] : ordinal; }

    // The cells that a query of the block sees: their list, and the ordinals there.
    void find_cells(int64_t queries) {
        begin_ = 0;
        end_   = p_.cells;
        if (p_.ranges) {
            list_ = p_.lists;
            list_begin_ = p_.ranges[3*first_query_];
            begin_ = p_.ranges[3*first_query_ + 1];
            end_   = p_.ranges[3*first_query_ + 2];
            for (int64_t query = first_query_ + 1; query < first_query_ + queries; query++) {
                begin_ = std::min<int64_t>(begin_, p_.ranges[3*query + 1]);
                end_   = std::max<int64_t>(end_, p_.ranges[3*query + 2]);
            }
        } else if (p_.mask) {
            const ggml_fp16_t * mask = (const ggml_fp16_t *) p_.mask_row(first_query_);
            end_ = 0;
            for (int64_t cell = 0; cell < p_.cells; cell++) {
                if (GGML_CPU_FP16_TO_FP32(mask[cell]) != -INFINITY) {
                    gathered_[end_++] = (int32_t) cell;
                }
            }
            list_ = gathered_;
        }
    }

    void compute_part(int64_t part) {
        for (int64_t row = 0; row < rows_; row++) {
            clear(sum(row), p_.values);
        }
        const int64_t end = std::min(end_, (part + 1)*part_cells);
        for (int64_t tile = part*part_cells; tile < end; tile += tile_cells) {
            if (tile + tile_cells > begin_) {
                compute_tile(tile, std::min(tile_cells, end - tile));
            }
        }
    }

    void compute_tile(int64_t tile, int64_t count) {
        const int64_t width = padded(count);
        read_tile(tile, count, width);
        memset(scores_, 0, rows_*width*sizeof(float));
        simd_gemm(scores_, queries_, keys_, (int) rows_, (int) p_.DK, (int) width);
        ggml_vec_scale_f32((int) (rows_*width), scores_, p_.scale);
        if (p_.softcap != 0.0f) {
            ggml_vec_tanh_f32((int) (rows_*width), scores_, scores_);
            ggml_vec_scale_f32((int) (rows_*width), scores_, p_.softcap);
        }
        for (int64_t row = 0; row < rows_; row++) {
            weigh(row, tile, width);
        }
        simd_gemm(sum(0).values, scores_, values_, (int) rows_, (int) width, (int) p_.values);
    }

    void read_tile(int64_t tile, int64_t count, int64_t width) {
        const char * k_data = (const char *) p_.k->data + group_*p_.k->nb[2] + stream_*p_.k->nb[3];
        const char * v_data = (const char *) p_.v->data + group_*p_.v->nb[2] + stream_*p_.v->nb[3];
        for (int64_t i = 0; i < width; i++) {
            float * key   = group_keys_ + i%key_group*p_.DK;
            float * value = values_ + i*p_.values;
            if (i < count && tile + i >= begin_) {
                const int64_t cell = cell_at(tile + i);
                read_kv_row(p_.k->type, k_data + cell*p_.k->nb[1], key, p_.DK);
                read_kv_row(p_.v->type, v_data + cell*p_.v->nb[1], value, p_.DV);
            } else {
                memset(key, 0, p_.DK*sizeof(float));
                memset(value, 0, p_.DV*sizeof(float));
            }
            if (i%key_group == key_group - 1) {
                write_key_columns(group_keys_, p_.DK, keys_ + i - (key_group - 1), width);
            }
        }
    }

    // Turns the scores of a row into weights, and shrinks what it has so far if there is a greater score.
    void weigh(int64_t row, int64_t tile, int64_t width) {
        const int64_t query = query_of(row);
        float * scores = scores_ + row*width;
        const result so_far = sum(row);
        const int64_t begin = std::min(width, std::max<int64_t>(0, begin_of(query) - tile));
        const int64_t end   = std::max(begin, std::min(width, end_of(query) - tile));
        if (p_.mask && (p_.max_bias > 0.0f || !p_.ranges)) {
            add_bias(scores, head_of(row), query, tile, begin, end);
        }
        std::fill(scores, scores + begin, -INFINITY);
        std::fill(scores + end, scores + width, -INFINITY);
        const float greatest = greatest_of(scores, width);
        if (greatest == -INFINITY) {
            memset(scores, 0, width*sizeof(float));
            return;
        }
        if (greatest > *so_far.greatest) {
            const float shrink = expf(*so_far.greatest - greatest);
            *so_far.greatest = greatest;
            *so_far.weights *= shrink;
            ggml_vec_scale_f32((int) p_.values, so_far.values, shrink);
        }
        *so_far.weights += (float) ggml_vec_soft_max_f32((int) width, scores, scores, *so_far.greatest);
    }

    void add_bias(float * scores, int64_t head, int64_t query, int64_t tile, int64_t begin, int64_t end) const {
        const ggml_fp16_t * mask = (const ggml_fp16_t *) p_.mask_row(query);
        float slope = 1.0f;
        if (p_.max_bias > 0.0f) {
            const int64_t power = int64_t(1) << (int64_t) floor(log2((double) p_.q->ne[2]));
            slope = head < power ? powf(powf(2.0f, -p_.max_bias/power), head + 1) :
                                   powf(powf(2.0f, -p_.max_bias/2.0f/power), 2*(head - power) + 1);
        }
        for (int64_t i = begin; i < end; i++) {
            scores[i] += slope*GGML_CPU_FP16_TO_FP32(mask[cell_at(tile + i)]);
        }
    }

    const plan & p_;
    const int64_t group_;
    const int64_t first_head_;
    const int64_t heads_;
    const int64_t first_query_;
    const int64_t rows_;
    const int64_t stream_;
    const int32_t * list_ = nullptr;
    int64_t   list_begin_ = 0;
    int64_t   begin_;
    int64_t   end_;
    float *   queries_;
    float *   scores_; // then weights
    float *   sums_;
    float *   totals_;
    float *   keys_;
    float *   group_keys_;
    float *   values_;
    int32_t * gathered_;
};

// Cuts the queries into blocks; returns how many there are.
int32_t find_blocks(const plan & p, int32_t * starts) {
    int32_t blocks = 0;
    for (int64_t query = 0; query < p.queries; query++) {
        const int64_t first = blocks > 0 ? starts[blocks - 1] : query;
        bool is_same = query > first && query - first < p.block_queries && query%p.stream_queries != 0;
        if (is_same && p.ranges) {
            is_same = p.ranges[3*query] == p.ranges[3*first];
        } else if (is_same && p.mask) {
            is_same = memcmp(p.mask_row(query), p.mask_row(first), p.cells*sizeof(ggml_fp16_t)) == 0;
        }
        if (!is_same) {
            starts[blocks++] = (int32_t) query;
        }
    }
    starts[blocks] = (int32_t) p.queries;
    return blocks;
}

void compute_item(const plan & p, void * wdata, int thread, int64_t item, int64_t blocks) {
    const int32_t * starts = p.starts(wdata) + 1;
    const int64_t parts = p.is_split ? p.parts : 1;
    const int64_t part  = item%parts;
    const int64_t at    = item/parts%blocks;
    const int64_t head  = item/parts/blocks%p.head_blocks;
    const int64_t group = item/parts/blocks/p.head_blocks;
    block b(p, p.scratch(wdata, thread), group, head*p.block_heads, starts[at], starts[at + 1] - starts[at]);
    if (p.is_split) {
        b.compute_only(part, wdata);
    } else {
        b.compute();
    }
}

void combine_parts(const plan & p, void * wdata, int thread, int64_t head, int64_t query) {
    float * numbers = p.scratch(wdata, thread);
    const result total = { numbers, numbers + 1, numbers + 2 };
    clear(total, p.values);
    for (int64_t part = 0; part < p.parts; part++) {
        combine(total, p.result_of(wdata, head, query, part), p.values);
    }
    finish(p, total, head, query);
}

bool supports(const ggml_tensor * dst) {
    const ggml_tensor * q    = dst->src[0];
    const ggml_tensor * k    = dst->src[1];
    const ggml_tensor * v    = dst->src[2];
    const ggml_tensor * mask = dst->src[3];
    const auto is_read = [](ggml_type type) {
        return type == GGML_TYPE_F32 || ggml_get_type_traits(type)->to_float != nullptr;
    };
    return q->type == GGML_TYPE_F32 && is_read(k->type) && is_read(v->type) && k->ne[2] == v->ne[2] &&
           k->ne[3] == q->ne[3] && v->ne[3] == q->ne[3] && (mask == nullptr || mask->ne[2] == 1);
}

} // namespace

size_t ggml_ordered_attention_size(const ggml_tensor * dst, int n_threads) {
    if (!supports(dst)) {
        return 0;
    }
    const plan p(dst, n_threads);
    return p.starts_size() + p.results_size() + n_threads*p.scratch_size();
}

void ggml_ordered_attention(const ggml_compute_params * params, ggml_tensor * dst) {
    const plan p(dst, params->nth);
    GGML_ASSERT(params->wsize >= ggml_ordered_attention_size(dst, params->nth));
    // the number of blocks stands before them
    int32_t * blocks = p.starts(params->wdata);
    if (params->ith == 0) {
        blocks[0] = find_blocks(p, blocks + 1);
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    const int64_t items = p.groups*p.head_blocks*blocks[0]*(p.is_split ? p.parts : 1);
    for (int64_t item = params->ith; item < items; item = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        compute_item(p, params->wdata, params->ith, item, blocks[0]);
    }
    if (!p.is_split) {
        return;
    }
    ggml_barrier(params->threadpool);
    for (int64_t row = params->ith; row < p.q->ne[2]*p.queries; row += params->nth) {
        combine_parts(p, params->wdata, params->ith, row%p.q->ne[2], row/p.q->ne[2]);
    }
}
