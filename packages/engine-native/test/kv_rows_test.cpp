// Attention over a cache in few bits: rows are added as they are decoded, and what it gives is attention over the decoded cache,
// for one query as for the many of a prompt, which go another way.
#include "../src/ggml-cpu/kv-rows.h" // the processor's own functions; no public header has them
#include "random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"
#include <doctest/doctest.h>

using test::Random;

namespace {

using Values = std::vector<float>;

constexpr ggml_type kFewBits[] = {GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_IQ4_NL, GGML_TYPE_Q3_KV};

/// Between -1 and 1.
Values values_of(Random& random, int64_t count) {
    constexpr uint64_t kSteps = 1 << 20;
    Values values(static_cast<size_t>(count));
    for (float& value : values)
        value = static_cast<float>(random.below(2 * kSteps)) / static_cast<float>(kSteps) - 1;
    return values;
}

std::vector<uint8_t> encode(ggml_type type, const Values& values) {
    ggml_cpu_init();
    const auto count = static_cast<int64_t>(values.size());
    std::vector<uint8_t> bytes(ggml_row_size(type, count));
    ggml_get_type_traits_cpu(type)->from_float(values.data(), bytes.data(), count);
    return bytes;
}

Values decode(ggml_type type, const std::vector<uint8_t>& bytes) {
    Values values(bytes.size() / ggml_type_size(type) * static_cast<size_t>(ggml_blck_size(type)));
    ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), static_cast<int64_t>(values.size()));
    return values;
}

constexpr int64_t kHead = 64;
constexpr int64_t kCells = 200;
constexpr float kScale = 0.125F;

struct Cache {
    ggml_type type;
    std::vector<uint8_t> bytes;
    Values values;
};

Cache cache_of(Random& random, ggml_type type) {
    std::vector<uint8_t> bytes = encode(type, values_of(random, kHead * kCells));
    Values values = decode(type, bytes);
    return {.type = type, .bytes = std::move(bytes), .values = std::move(values)};
}

ggml_tensor* tensor_of(ggml_context* context, const Cache& cache) {
    ggml_tensor* tensor = ggml_new_tensor_3d(context, cache.type, kHead, kCells, 1);
    std::ranges::copy(cache.bytes, static_cast<uint8_t*>(tensor->data));
    return tensor;
}

/// What ggml computes for these queries, each of which sees all cells.
Values attended(const Values& queries, const Cache& keys, const Cache& values) {
    const auto count = static_cast<int64_t>(queries.size()) / kHead;
    const ggml_init_params params{.mem_size = size_t{16} << 20, .mem_buffer = nullptr, .no_alloc = false};
    const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(ggml_init(params), ggml_free);
    ggml_tensor* q = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, kHead, count, 1);
    std::ranges::copy(queries, static_cast<float*>(q->data));
    ggml_tensor* out = ggml_flash_attn_ext(context.get(), q, tensor_of(context.get(), keys),
                                           tensor_of(context.get(), values), nullptr, kScale, 0, 0);
    ggml_cgraph* graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, out);
    REQUIRE_EQ(ggml_graph_compute_with_ctx(context.get(), graph, 2), GGML_STATUS_SUCCESS);
    const auto* data = static_cast<const float*>(out->data);
    return {data, data + queries.size()};
}

/// Softmax over the decoded keys, of the decoded values.
Values expected(const float* query, const Cache& keys, const Cache& values) {
    std::vector<double> weights;
    for (int64_t cell = 0; cell < kCells; ++cell) {
        double score = 0;
        for (int64_t i = 0; i < kHead; ++i)
            score += static_cast<double>(query[i]) *
                     static_cast<double>(keys.values[static_cast<size_t>(cell * kHead + i)]);
        weights.push_back(std::exp(static_cast<double>(kScale) * score));
    }
    double sum = 0;
    for (const double weight : weights) sum += weight;
    Values result;
    for (int64_t i = 0; i < kHead; ++i) {
        double value = 0;
        for (int64_t cell = 0; cell < kCells; ++cell)
            value += weights[static_cast<size_t>(cell)] *
                     static_cast<double>(values.values[static_cast<size_t>(cell * kHead + i)]);
        result.push_back(static_cast<float>(value / sum));
    }
    return result;
}

} // namespace

TEST_CASE("KV rows: weighed values are added as they are decoded") {
    Random random(1);
    for (const ggml_type type : kFewBits) {
        const ggml_kv_mad_t mad = ggml_kv_mad(type);
        CAPTURE(ggml_type_name(type));
        REQUIRE(static_cast<bool>(mad));
        for (const int64_t count : {64, 128, 320}) {
            const std::vector<uint8_t> bytes = encode(type, values_of(random, count));
            const Values decoded = decode(type, bytes);
            const Values before = values_of(random, count);
            Values after = before;
            mad(static_cast<int>(count), after.data(), bytes.data(), 0.3F);
            for (size_t i = 0; i < after.size(); ++i)
                CHECK(std::abs(after[i] - (before[i] + 0.3F * decoded[i])) < 1e-6F);
        }
    }
    for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q5_1})
        CHECK_FALSE(static_cast<bool>(ggml_kv_mad(type)));
}

TEST_CASE("KV rows: one query and a prompt's many attend to what is in the cache, whatever its types") {
    Random random(2);
    constexpr int64_t kMany = 70; // a tile of queries, and some of the next
    for (const ggml_type k : kFewBits) {
        for (const ggml_type v : kFewBits) {
            CAPTURE(ggml_type_name(k));
            CAPTURE(ggml_type_name(v));
            const Cache keys = cache_of(random, k);
            const Cache values = cache_of(random, v);
            const Values queries = values_of(random, kMany * kHead);
            const Values many = attended(queries, keys, values);
            for (const int64_t at : {0, 1, 63, 64, 69}) {
                const auto first = static_cast<size_t>(at * kHead);
                const Values right = expected(queries.data() + first, keys, values);
                const Values query(queries.begin() + static_cast<std::ptrdiff_t>(first),
                                   queries.begin() + static_cast<std::ptrdiff_t>(first + kHead));
                const Values one = attended(query, keys, values);
                for (size_t i = 0; i < kHead; ++i) {
                    CHECK(std::abs(many[first + i] - right[i]) < 2e-5F);
                    CHECK(std::abs(one[i] - right[i]) < 2e-3F); // a single query is rounded to 8 bits
                }
            }
        }
    }
}
