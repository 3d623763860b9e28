// Attention on the processor: rows in few bits are added as they are decoded, and what it gives is attention over the decoded
// cache, for one query as for the many of a prompt, with any mask.
#include "../src/ggml-cpu/kv-rows.h" // the processor's own functions; no public header has them
#include "check.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

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
    if (type == GGML_TYPE_F32) std::memcpy(bytes.data(), values.data(), bytes.size());
    else ggml_get_type_traits_cpu(type)->from_float(values.data(), bytes.data(), count);
    return bytes;
}

Values decode(ggml_type type, const std::vector<uint8_t>& bytes) {
    Values values(bytes.size() / ggml_type_size(type) * static_cast<size_t>(ggml_blck_size(type)));
    if (type == GGML_TYPE_F32) std::memcpy(values.data(), bytes.data(), bytes.size());
    else
        ggml_get_type_traits(type)->to_float(bytes.data(), values.data(),
                                             static_cast<int64_t>(values.size()));
    return values;
}

constexpr int64_t kHead = 64;
constexpr int64_t kHeads = 6;    // of a query …
constexpr int64_t kGroups = 2;   // … of which three share keys and values
constexpr int64_t kCells = 1300; // several parts, the last of which is not full
constexpr float kScale = 0.125F;

struct RowCache {
    ggml_type type;
    std::vector<uint8_t> bytes;
    Values values;

    const float* row(int64_t group, int64_t cell) const {
        return values.data() + (group * kCells + cell) * kHead;
    }
};

RowCache cache_of(Random& random, ggml_type type) {
    std::vector<uint8_t> bytes = encode(type, values_of(random, kHead * kCells * kGroups));
    Values values = decode(type, bytes);
    return {.type = type, .bytes = std::move(bytes), .values = std::move(values)};
}

ggml_tensor* tensor_of(ggml_context* context, const RowCache& cache) {
    ggml_tensor* tensor = ggml_new_tensor_3d(context, cache.type, kHead, kCells, kGroups);
    std::ranges::copy(cache.bytes, static_cast<uint8_t*>(tensor->data));
    return tensor;
}

/// Which cells a query sees: some at the beginning, every third of the rest.
bool is_visible(int64_t query, int64_t cell) {
    return cell < 5 || (cell + query) % 3 == 0;
}

/// What ggml computes for so many of these queries, from one of them on: query by query, and of each head by head.
Values attended(const Values& queries, int64_t first, int64_t count, const RowCache& keys,
                const RowCache& values) {
    const ggml_init_params params{.mem_size = size_t{16} << 20, .mem_buffer = nullptr, .no_alloc = false};
    const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(ggml_init(params), ggml_free);
    // As llama.cpp hands it over: a query's heads lie side by side.
    ggml_tensor* q = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, kHead, kHeads, count);
    const auto begin = queries.begin() + first * kHeads * kHead;
    std::copy(begin, begin + count * kHeads * kHead, static_cast<float*>(q->data));
    ggml_tensor* mask = ggml_new_tensor_2d(context.get(), GGML_TYPE_F16, kCells, count);
    for (int64_t query = 0; query < count; ++query) {
        for (int64_t cell = 0; cell < kCells; ++cell)
            static_cast<ggml_fp16_t*>(mask->data)[query * kCells + cell] = ggml_fp32_to_fp16(
                is_visible(first + query, cell) ? 0.0F : -std::numeric_limits<float>::infinity());
    }
    ggml_tensor* out = ggml_flash_attn_ext(context.get(), ggml_permute(context.get(), q, 0, 2, 1, 3),
                                           tensor_of(context.get(), keys), tensor_of(context.get(), values),
                                           mask, kScale, 0, 0);
    ggml_cgraph* graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, out);
    REQUIRE_EQ(ggml_graph_compute_with_ctx(context.get(), graph, 2), GGML_STATUS_SUCCESS);
    const auto* data = static_cast<const float*>(out->data);
    return {data, data + count * kHeads * kHead};
}

/// Softmax over the decoded keys, of the decoded values, for one head of one query.
Values expected(const float* head, int64_t query, int64_t group, const RowCache& keys,
                const RowCache& values) {
    double sum = 0;
    std::vector<double> weighed(kHead);
    for (int64_t cell = 0; cell < kCells; ++cell) {
        if (!is_visible(query, cell)) continue;
        double score = 0;
        for (int64_t i = 0; i < kHead; ++i)
            score += static_cast<double>(head[i]) * static_cast<double>(keys.row(group, cell)[i]);
        const double weight = std::exp(static_cast<double>(kScale) * score);
        sum += weight;
        for (int64_t i = 0; i < kHead; ++i)
            weighed[static_cast<size_t>(i)] += weight * static_cast<double>(values.row(group, cell)[i]);
    }
    Values result;
    for (const double value : weighed) result.push_back(static_cast<float>(value / sum));
    return result;
}

/// The largest difference between what ggml computes for these queries and what they should get.
float worst(const Values& queries, int64_t first, int64_t count, const RowCache& keys,
            const RowCache& values) {
    const Values got = attended(queries, first, count, keys, values);
    float most = 0;
    for (const int64_t query : {int64_t{0}, count / 2, count - 1}) {
        for (int64_t head = 0; head < kHeads; ++head) {
            const float* one = queries.data() + ((first + query) * kHeads + head) * kHead;
            const Values right = expected(one, first + query, head / (kHeads / kGroups), keys, values);
            for (size_t i = 0; i < kHead; ++i) {
                const auto at = static_cast<size_t>((query * kHeads + head) * kHead) + i;
                most = std::max(most, std::abs(got[at] - right[i]));
            }
        }
    }
    return most;
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

TEST_CASE("attention: one query, a few and a prompt's many see what is in the cache, whatever its types") {
    Random random(2);
    constexpr int64_t kMany = 70; // a tile of queries, and some of the next
    const Values queries = values_of(random, kMany * kHeads * kHead);
    std::vector<ggml_type> types(std::begin(kFewBits), std::end(kFewBits));
    types.push_back(GGML_TYPE_F16);
    types.push_back(GGML_TYPE_F32);
    for (const ggml_type k : types) {
        for (const ggml_type v : types) {
            CAPTURE(ggml_type_name(k));
            CAPTURE(ggml_type_name(v));
            const RowCache keys = cache_of(random, k);
            const RowCache values = cache_of(random, v);
            CHECK(worst(queries, 3, 1, keys, values) < 1e-5F);
            CHECK(worst(queries, 20, 9, keys, values) < 1e-5F);
            CHECK(worst(queries, 0, kMany, keys, values) < 1e-5F);
        }
    }
}
