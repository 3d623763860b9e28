// Attention on the processor (files/ggml/src/ggml-cpu/ordered-attention.h): its values, and that a query gets the same ones in every
// batch, wherever the cells that it sees lie, and with every number of threads.
#include "check.h"
#include "random.h"
#include "weight_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

using test::Owned;
using test::Random;
using test::random_values;
using test::Values;

namespace {

struct AttentionShape {
    int64_t heads;
    int64_t groups;
    int64_t key_size;
    int64_t value_size;
    ggml_type key_type = GGML_TYPE_F16;
    ggml_type value_type = GGML_TYPE_F16;
    int64_t window = 0; // cells that a query sees at most, or all
    bool is_causal = true;
    bool has_sinks = false;
    float softcap = 0;
    float max_bias = 0;

    std::string name() const {
        return std::to_string(heads) + "/" + std::to_string(groups) + " heads of " +
               std::to_string(key_size) + "/" + std::to_string(value_size) + " " + ggml_type_name(key_type) +
               "/" + ggml_type_name(value_type) + " window " + std::to_string(window);
    }
};

const std::vector<AttentionShape> kShapes = {
    {.heads = 8, .groups = 2, .key_size = 64, .value_size = 64},
    {.heads = 3, .groups = 3, .key_size = 72, .value_size = 40},
    {.heads = 70, .groups = 1, .key_size = 48, .value_size = 32, .key_type = GGML_TYPE_F32},
    {.heads = 6, .groups = 2, .key_size = 64, .value_size = 128, .key_type = GGML_TYPE_Q8_0, .window = 200},
    {.heads = 4, .groups = 2, .key_size = 64, .value_size = 64, .key_type = GGML_TYPE_Q4_0, .softcap = 3},
    {.heads = 4,
     .groups = 1,
     .key_size = 32,
     .value_size = 32,
     .value_type = GGML_TYPE_IQ4_NL,
     .has_sinks = true},
    {.heads = 6,
     .groups = 2,
     .key_size = 64,
     .value_size = 64,
     .value_type = GGML_TYPE_Q3_KV,
     .is_causal = false},
    {.heads = 6, .groups = 3, .key_size = 64, .value_size = 64, .value_type = GGML_TYPE_BF16, .max_bias = 8},
};

std::vector<uint8_t> encoded(ggml_type type, const Values& values) {
    const auto count = static_cast<int64_t>(values.size());
    std::vector<uint8_t> bytes(ggml_row_size(type, count));
    if (type == GGML_TYPE_F32)
        std::copy_n(reinterpret_cast<const uint8_t*>(values.data()), bytes.size(), bytes.data());
    else ggml_get_type_traits_cpu(type)->from_float(values.data(), bytes.data(), count);
    return bytes;
}

Values decoded(ggml_type type, const std::vector<uint8_t>& bytes, int64_t count) {
    Values values(static_cast<size_t>(count));
    if (type == GGML_TYPE_F32)
        std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<uint8_t*>(values.data()));
    else ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), count);
    return values;
}

/// The queries, keys and values of a sequence, position by position.
struct Sequence {
    int64_t length;
    Values queries;
    std::vector<uint8_t> keys;
    std::vector<uint8_t> values;

    Sequence(Random& random, const AttentionShape& shape, int64_t positions)
        : length(positions),
          queries(random_values(random, positions * shape.heads * shape.key_size)),
          keys(encoded(shape.key_type, random_values(random, positions * shape.groups * shape.key_size))),
          values(encoded(shape.value_type,
                         random_values(random, positions * shape.groups * shape.value_size))) {}
};

struct Query {
    const Sequence* sequence;
    int64_t position;
};

bool is_visible(const AttentionShape& shape, int64_t position, int64_t cell) {
    return (!shape.is_causal || cell <= position) && (shape.window == 0 || position - cell < shape.window);
}

float sink_of(int64_t head) {
    return static_cast<float>(head) - 1.5F;
}

/// A cache in which sequences lie anywhere: cell `cells[s][p]` has position p of the s-th.
struct AttentionCache {
    std::vector<const Sequence*> sequences;
    std::vector<std::vector<int32_t>> cells;
    int64_t size = 0;

    AttentionCache(Random& random, const std::vector<Query>& queries, bool is_scattered) {
        for (const Query& query : queries) {
            if (index_of(query.sequence) == sequences.size()) sequences.push_back(query.sequence);
        }
        for (const Sequence* sequence : sequences) size += sequence->length;
        if (is_scattered) size += random.between(0, 700);
        std::vector<int32_t> free(static_cast<size_t>(size));
        std::iota(free.begin(), free.end(), 0);
        if (is_scattered) {
            for (size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random.below(i)]);
        }
        auto next = free.begin();
        for (const Sequence* sequence : sequences) {
            cells.emplace_back(next, next + sequence->length);
            next += sequence->length;
        }
    }

    size_t index_of(const Sequence* sequence) const {
        return static_cast<size_t>(std::ranges::find(sequences, sequence) - sequences.begin());
    }
};

/// Every cell's row; unused ones have no numbers at all.
std::vector<uint8_t> rows_of(const AttentionCache& cache, size_t row_size,
                             std::vector<uint8_t> Sequence::* rows) {
    std::vector<uint8_t> bytes(static_cast<size_t>(cache.size) * row_size, 0xff);
    for (size_t s = 0; s < cache.sequences.size(); ++s) {
        for (size_t p = 0; p < cache.cells[s].size(); ++p) {
            const uint8_t* const from = (cache.sequences[s]->*rows).data() + p * row_size;
            std::copy_n(from, row_size, bytes.data() + static_cast<size_t>(cache.cells[s][p]) * row_size);
        }
    }
    return bytes;
}

std::vector<ggml_fp16_t> mask_of(const AttentionShape& shape, const AttentionCache& cache,
                                 const std::vector<Query>& queries) {
    const ggml_fp16_t hidden = ggml_fp32_to_fp16(-std::numeric_limits<float>::infinity());
    std::vector<ggml_fp16_t> mask(static_cast<size_t>(cache.size) * queries.size(), hidden);
    for (size_t i = 0; i < queries.size(); ++i) {
        const std::vector<int32_t>& cells = cache.cells[cache.index_of(queries[i].sequence)];
        for (int64_t p = 0; p < queries[i].sequence->length; ++p) {
            if (!is_visible(shape, queries[i].position, p)) continue;
            const auto distance = static_cast<float>(std::abs(queries[i].position - p));
            mask[i * static_cast<size_t>(cache.size) + static_cast<size_t>(cells[static_cast<size_t>(p)])] =
                ggml_fp32_to_fp16(shape.max_bias > 0 ? -distance : 0.0F);
        }
    }
    return mask;
}

/// The input of llama-ordered-cells.h. Of a window, `forgets` leaves only the cells that some query may see.
std::vector<int32_t> ordered_cells(const AttentionShape& shape, const AttentionCache& cache,
                                   const std::vector<Query>& queries, bool forgets) {
    std::vector<int32_t> numbers(queries.size() * 3);
    std::vector<int32_t> lists;
    std::vector<int32_t> begins;
    for (size_t s = 0; s < cache.sequences.size(); ++s) {
        int64_t first = 0;
        if (forgets && shape.window > 0) {
            first = cache.sequences[s]->length;
            for (const Query& query : queries) {
                if (query.sequence == cache.sequences[s])
                    first = std::min(first, std::max<int64_t>(0, query.position - shape.window + 1));
            }
        }
        begins.push_back(static_cast<int32_t>(static_cast<int64_t>(lists.size()) - first));
        lists.insert(lists.end(), cache.cells[s].begin() + first, cache.cells[s].end());
    }
    for (size_t i = 0; i < queries.size(); ++i) {
        int64_t first = 0;
        while (!is_visible(shape, queries[i].position, first)) ++first;
        int64_t end = first;
        while (end < queries[i].sequence->length && is_visible(shape, queries[i].position, end)) ++end;
        numbers[3 * i] = begins[cache.index_of(queries[i].sequence)];
        numbers[3 * i + 1] = static_cast<int32_t>(first);
        numbers[3 * i + 2] = static_cast<int32_t>(end);
    }
    numbers.insert(numbers.end(), lists.begin(), lists.end());
    return numbers;
}

struct Conditions {
    int threads = 1;
    bool is_scattered = false;
    bool forgets = false;
};

template <class T>
void set(ggml_tensor* tensor, const std::vector<T>& data) {
    REQUIRE_EQ(ggml_nbytes(tensor), data.size() * sizeof(T));
    ggml_backend_tensor_set(tensor, data.data(), 0, data.size() * sizeof(T));
}

/// What the queries get, one after another.
Values attended(Random& random, const AttentionShape& shape, const std::vector<Query>& queries,
                Conditions conditions) {
    const AttentionCache cache(random, queries, conditions.is_scattered);
    const auto count = static_cast<int64_t>(queries.size());
    const std::vector<int32_t> listed = ordered_cells(shape, cache, queries, conditions.forgets);
    const Owned<ggml_backend> backend(ggml_backend_cpu_init());
    ggml_backend_cpu_set_n_threads(backend.get(), conditions.threads);
    const Owned<ggml_context> owner(
        ggml_init({16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true}));
    ggml_context* const context = owner.get();
    const auto rows = [&](ggml_type type, int64_t size, int64_t heads, int64_t length) {
        return ggml_new_tensor_3d(context, type, size, heads, length);
    };
    ggml_tensor* const q = rows(GGML_TYPE_F32, shape.key_size, shape.heads, count);
    ggml_tensor* const k = rows(shape.key_type, shape.key_size, shape.groups, cache.size);
    ggml_tensor* const v = rows(shape.value_type, shape.value_size, shape.groups, cache.size);
    ggml_tensor* const mask = ggml_new_tensor_2d(context, GGML_TYPE_F16, cache.size, count);
    ggml_tensor* const cells =
        ggml_new_tensor_1d(context, GGML_TYPE_I32, static_cast<int64_t>(listed.size()));
    ggml_tensor* const sinks = ggml_new_tensor_1d(context, GGML_TYPE_F32, shape.heads);
    const auto by_head = [&](ggml_tensor* tensor) { return ggml_permute(context, tensor, 0, 2, 1, 3); };
    ggml_tensor* const out = ggml_flash_attn_ext(context, by_head(q), by_head(k), by_head(v), mask, 0.7F,
                                                 shape.max_bias, shape.softcap);
    if (shape.has_sinks) ggml_flash_attn_ext_add_sinks(out, sinks);
    out->src[5] = cells;
    const Owned<ggml_backend_buffer> held(
        ggml_backend_alloc_ctx_tensors_from_buft(context, ggml_backend_cpu_buffer_type()));

    Values inputs;
    for (const Query& query : queries) {
        const int64_t numbers = shape.heads * shape.key_size;
        const auto first = query.sequence->queries.begin() + query.position * numbers;
        inputs.insert(inputs.end(), first, first + numbers);
    }
    Values sink_values;
    for (int64_t head = 0; head < shape.heads; ++head) sink_values.push_back(sink_of(head));
    set(q, inputs);
    set(k, rows_of(cache, ggml_row_size(shape.key_type, shape.key_size * shape.groups), &Sequence::keys));
    set(v,
        rows_of(cache, ggml_row_size(shape.value_type, shape.value_size * shape.groups), &Sequence::values));
    set(mask, mask_of(shape, cache, queries));
    set(cells, listed);
    set(sinks, sink_values);
    ggml_cgraph* const graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, out);
    REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
    Values values(static_cast<size_t>(ggml_nelements(out)));
    ggml_backend_tensor_get(out, values.data(), 0, values.size() * sizeof(float));
    return values;
}

/// One head of a query in double precision.
std::vector<double> expected(const AttentionShape& shape, const Query& query, int64_t head,
                             const Values& keys, const Values& values) {
    const int64_t group = head / (shape.heads / shape.groups);
    const float* const q =
        query.sequence->queries.data() + (query.position * shape.heads + head) * shape.key_size;
    // For six heads and a bias of 8 at most, as ALiBi defines it.
    const double slope =
        shape.max_bias > 0 ? std::exp2(head < 4 ? -2 * (head + 1) : -(2 * (head - 4) + 1)) : 0;
    double sum = shape.has_sinks ? std::exp(static_cast<double>(sink_of(head))) : 0;
    std::vector<double> weighed(static_cast<size_t>(shape.value_size));
    for (int64_t p = 0; p < query.sequence->length; ++p) {
        if (!is_visible(shape, query.position, p)) continue;
        const float* const k = keys.data() + (p * shape.groups + group) * shape.key_size;
        double score = 0;
        for (int64_t i = 0; i < shape.key_size; ++i)
            score += static_cast<double>(q[i]) * static_cast<double>(k[i]);
        score *= static_cast<double>(0.7F);
        if (shape.softcap != 0) {
            const auto cap = static_cast<double>(shape.softcap);
            score = cap * std::tanh(score / cap);
        }
        const double weight = std::exp(score - slope * static_cast<double>(std::abs(query.position - p)));
        sum += weight;
        const float* const v = values.data() + (p * shape.groups + group) * shape.value_size;
        for (int64_t i = 0; i < shape.value_size; ++i)
            weighed[static_cast<size_t>(i)] += weight * static_cast<double>(v[i]);
    }
    for (double& value : weighed) value /= sum;
    return weighed;
}

double largest_error(const AttentionShape& shape, const std::vector<Query>& queries, const Values& got) {
    double largest = 0;
    size_t at = 0;
    for (const Query& query : queries) {
        const int64_t length = query.sequence->length * shape.groups;
        const Values keys = decoded(shape.key_type, query.sequence->keys, length * shape.key_size);
        const Values values = decoded(shape.value_type, query.sequence->values, length * shape.value_size);
        for (int64_t head = 0; head < shape.heads; ++head) {
            for (const double right : expected(shape, query, head, keys, values)) {
                const double error = std::abs(static_cast<double>(got[at++]) - right);
                if (!(error <= largest)) largest = error; // a NaN stays
            }
        }
    }
    return largest;
}

} // namespace

TEST_CASE("ordered attention: queries get what they get in double precision, in every shape and type") {
    Random random(1);
    ggml_cpu_init();
    for (const AttentionShape& shape : kShapes) {
        CAPTURE(shape.name());
        const Sequence sequence(random, shape, 700);
        const std::vector<Query> queries = {
            {&sequence, 0}, {&sequence, 63}, {&sequence, 64}, {&sequence, 699}};
        CHECK(largest_error(shape, queries, attended(random, shape, queries, {})) < 1e-5);
    }
}

TEST_CASE("ordered attention: a query gets the same bits in every batch, cache and number of threads") {
    for (const uint64_t seed : test::seeds(4)) {
        Random random(seed);
        CAPTURE(seed);
        const AttentionShape& shape = random.one_of(kShapes);
        CAPTURE(shape.name());
        std::vector<Sequence> sequences;
        for (int i = 0; i < 3; ++i) sequences.emplace_back(random, shape, random.between(1, 1400));
        for (int round = 0; round < 6; ++round) {
            std::vector<Query> batch;
            for (const Sequence& sequence : sequences) {
                const auto last = static_cast<int32_t>(sequence.length) - 1;
                const int32_t first = random.between(0, last);
                const int32_t end = std::min(last, first + random.between(0, random.chance(50) ? 3 : 90));
                for (int32_t position = first; position <= end; ++position)
                    batch.push_back({&sequence, position});
            }
            const Conditions conditions{
                .threads = random.between(1, 8), .is_scattered = true, .forgets = random.chance(50)};
            CAPTURE(conditions.threads);
            const Values together = attended(random, shape, batch, conditions);
            const auto numbers = static_cast<size_t>(shape.heads * shape.value_size);
            for (int sample = 0; sample < 6; ++sample) {
                const size_t one = random.below(batch.size());
                const Values alone = attended(random, shape, {batch[one]}, {.threads = random.between(1, 8)});
                CAPTURE(batch[one].position);
                CHECK(std::equal(alone.begin(), alone.end(),
                                 together.begin() + static_cast<int64_t>(one * numbers)));
            }
        }
    }
}
