// The cells that each token of a batch attends to, in the order of their positions: attention on the processor adds in this order,
// so a result does not depend on where the cells lie (ggml/src/ggml-cpu/ordered-attention.h).
//
// It is an I32 tensor that belongs to an attention mask, and hangs there as its source. For each token, it has three numbers:
// where the list of its sequence begins behind all these numbers, and the first cell of the list that the token sees and the one
// behind the last. They are counted from position 0 on: a list whose first cells are gone, as outside a sliding window, would
// begin before its first remaining cell. Behind these numbers are the lists, one for each sequence.

#pragma once

#include "ggml-backend.h"
#include "ggml.h"

#include "llama-batch.h"
#include "llama-kv-cells.h"

#include <algorithm>
#include <vector>

inline void llama_add_ordered_cells(ggml_context * ctx, ggml_tensor * mask, uint32_t n_seqs) {
    if (mask->type != GGML_TYPE_F16) {
        return; // only flash attention uses them
    }
    mask->src[0] = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3*mask->ne[1]*mask->ne[3] + mask->ne[0]*n_seqs);
    ggml_set_input(mask->src[0]);
    ggml_set_name(mask->src[0], "ordered_cells");
}

// Those of an input; a mask that the graph computes has none.
inline ggml_tensor * llama_ordered_cells_of(const ggml_tensor * mask) {
    return mask && mask->op == GGML_OP_NONE ? mask->src[0] : nullptr;
}

// Fills the tensor of a mask, which has been filled before.
class llama_ordered_cells {
public:
    llama_ordered_cells(const ggml_tensor * mask, const llama_ubatch & ubatch) : mask(mask), ubatch(ubatch) {
        const ggml_tensor * cells = llama_ordered_cells_of(mask);
        ranges = cells && cells->buffer ? (int32_t *) cells->data : nullptr;
        lists  = ranges + (ranges ? 3*ubatch.n_tokens : 0);
    }

    bool is_needed() const {
        return ranges != nullptr;
    }

    // n_tokens tokens from first on, whose sequences have these cells of one stream, by sequence id
    void add(uint32_t first, uint32_t n_tokens, const llama_kv_cells & cells, std::vector<std::vector<uint32_t>> & by_seq) {
        const auto is_before = [&](uint32_t a, uint32_t b) {
            if (cells.pos_get(a) != cells.pos_get(b)) {
                return cells.pos_get(a) < cells.pos_get(b);
            }
            // tokens of an image may share a position
            const auto & ext = cells.ext_get(a);
            return cells.ext_get(b).is_2d_gt(ext.x, ext.y);
        };
        add(first, n_tokens, by_seq, is_before, [&](uint32_t cell) { return cells.pos_get(cell); });
    }

    // without a cache, the cells are the tokens of the batch
    void add_tokens() {
        std::vector<std::vector<uint32_t>> by_seq(LLAMA_MAX_SEQ);
        for (uint32_t i = 0; i < ubatch.n_tokens; ++i) {
            by_seq[ubatch.seq_id[i][0]].push_back(i);
        }
        const auto pos = [&](uint32_t token) { return ubatch.pos[token]; };
        add(0, ubatch.n_tokens, by_seq, [&](uint32_t a, uint32_t b) { return pos(a) < pos(b); }, pos);
    }

private:
    template <typename Before, typename Pos>
    void add(uint32_t first, uint32_t n_tokens, std::vector<std::vector<uint32_t>> & by_seq, Before is_before, Pos pos) {
        std::vector<int32_t> begins(by_seq.size());
        for (size_t seq_id = 0; seq_id < by_seq.size(); ++seq_id) {
            auto & list = by_seq[seq_id];
            if (list.empty()) {
                continue;
            }
            if (!std::is_sorted(list.begin(), list.end(), is_before)) {
                std::stable_sort(list.begin(), list.end(), is_before);
            }
            begins[seq_id] = (int32_t) n_listed - pos(list.front());
            std::copy(list.begin(), list.end(), lists + n_listed);
            n_listed += list.size();
        }
        for (uint32_t i = first; i < first + n_tokens; ++i) {
            const llama_seq_id seq_id = ubatch.seq_id[i][0];
            const auto & list = by_seq[seq_id];
            // masked are only cells far before and far behind the token's position
            const ggml_fp16_t * row = (const ggml_fp16_t *) mask->data + mask->ne[0]*i;
            const auto is_masked = [&](uint32_t cell) { return row[cell] == hidden; };
            const auto is_seen   = [&](uint32_t cell) { return row[cell] != hidden; };
            const auto near  = std::partition_point(list.begin(), list.end(), [&](uint32_t cell) { return pos(cell) < ubatch.pos[i]; });
            const auto begin = std::partition_point(list.begin(), near, is_masked);
            const auto end   = std::partition_point(near, list.end(), is_seen);
            const int32_t counted = list.empty() ? 0 : pos(list.front());
            ranges[3*i + 0] = begins[seq_id];
            ranges[3*i + 1] = counted + (int32_t) (begin - list.begin());
            ranges[3*i + 2] = counted + (int32_t) (end - list.begin());
        }
    }

    static constexpr ggml_fp16_t hidden = 0xFC00; // -INFINITY

    const ggml_tensor  * mask;
    const llama_ubatch & ubatch;

    int32_t * ranges;
    int32_t * lists;
    size_t    n_listed = 0;
};
