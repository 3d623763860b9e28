// Products with weights by panels (files/ggml/src/ggml-cpu/weight-panels.h) access nothing beside their weights, inputs, results and
// working memory: each of these lies directly before, or directly behind, a page that may not be accessed, and a process that
// accesses such a page crashes.
#include "check.h"
#include "weight_values.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <string>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"
#include <sys/mman.h>
#include <unistd.h>

using test::has_panels;
using test::Owned;

namespace {

constexpr ggml_type kFloats[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16};

/// Where the page is that may not be accessed.
enum class Fence { kBefore, kBehind };

/// Pages between two that may not be accessed.
class FencedMemory {
public:
    explicit FencedMemory(size_t bytes_min)
        : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size_((bytes_min + page_ - 1) / page_ * page_) {
        void* const pages = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(pages != MAP_FAILED);
        first_ = static_cast<uint8_t*>(pages) + page_;
        REQUIRE(mprotect(first_, size_, PROT_READ | PROT_WRITE) == 0);
    }
    FencedMemory(const FencedMemory&) = delete;
    FencedMemory& operator=(const FencedMemory&) = delete;
    ~FencedMemory() { munmap(first_ - page_, size_ + 2 * page_); }

    /// So many bytes beside the fence, all of them `value`.
    uint8_t* filled(size_t bytes, Fence fence, int value) {
        REQUIRE(bytes <= size_);
        uint8_t* const at = fence == Fence::kBefore ? first_ : first_ + size_ - bytes;
        std::memset(at, value, bytes);
        return at;
    }

private:
    size_t page_;
    size_t size_;
    uint8_t* first_ = nullptr;
};

/// One matrix, one with other bytes between its rows, or those of several experts.
enum class Matrices { kOne, kApart, kExperts };

struct ProductShape {
    ggml_type type;
    int64_t columns;
    int64_t rows;  // of weights
    int64_t count; // rows of inputs
    Matrices matrices = Matrices::kOne;
};

/// Computes products of zeros beside fences. Its context is used again for each of them.
class FencedProducts {
public:
    void check(const ProductShape& shape, int threads = 1) {
        const std::string type_name = ggml_type_name(shape.type);
        CAPTURE(type_name);
        CAPTURE(shape.columns);
        CAPTURE(shape.rows);
        CAPTURE(shape.count);
        CAPTURE(shape.matrices);
        CAPTURE(threads);
        for (const Fence fence : {Fence::kBefore, Fence::kBehind}) {
            CAPTURE(fence);
            ggml_reset(context_.get());
            ggml_tensor* const product = build(shape, fence);
            compute(product, fence, threads);
            const auto* const results = static_cast<const float*>(product->data);
            CHECK(std::all_of(results, results + ggml_nelements(product),
                              [](float result) { return result == 0; }));
        }
    }

private:
    static constexpr size_t kBytesMax = size_t{4} << 20;
    static constexpr size_t kNodes = 8;
    static constexpr int64_t kExperts = 3;

    ggml_tensor* build(const ProductShape& shape, Fence fence) {
        ggml_context* const context = context_.get();
        const bool has_experts = shape.matrices == Matrices::kExperts;
        ggml_tensor* const weights =
            ggml_new_tensor_3d(context, shape.type, shape.columns, shape.rows, has_experts ? kExperts : 1);
        if (shape.matrices == Matrices::kApart) weights->nb[1] *= 2;
        ggml_tensor* const inputs =
            ggml_new_tensor_3d(context, GGML_TYPE_F32, shape.columns, has_experts ? 1 : shape.count,
                               has_experts ? shape.count : 1);
        ggml_tensor* const product = has_experts
                                         ? ggml_mul_mat_id(context, weights, inputs, ids(shape.count, fence))
                                         : ggml_mul_mat(context, weights, inputs);
        weights->data = weights_.filled(ggml_nbytes(weights), fence, 0);
        inputs->data = inputs_.filled(ggml_nbytes(inputs), fence, 0);
        product->data = results_.filled(ggml_nbytes(product), fence, 0xff); // NaNs
        return product;
    }

    /// One expert for each row of inputs, in a cycle.
    ggml_tensor* ids(int64_t count, Fence fence) {
        ggml_tensor* const ids = ggml_new_tensor_2d(context_.get(), GGML_TYPE_I32, 1, count);
        ids->data = ids_.filled(ggml_nbytes(ids), fence, 0);
        for (int64_t i = 0; i < count; ++i)
            static_cast<int32_t*>(ids->data)[i] = static_cast<int32_t>(kExperts - 1 - i % kExperts);
        return ids;
    }

    void compute(ggml_tensor* product, Fence fence, int threads) {
        ggml_cgraph* const graph = ggml_new_graph_custom(context_.get(), kNodes, false);
        ggml_build_forward_expand(graph, product);
        ggml_cplan plan = ggml_graph_plan(graph, threads, nullptr);
        plan.work_data = working_.filled(plan.work_size, fence, 0xff);
        REQUIRE(ggml_graph_compute(graph, &plan) == GGML_STATUS_SUCCESS);
    }

    const Owned<ggml_context> context_{ggml_init(
        {kNodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(kNodes, false), nullptr, true})};
    FencedMemory weights_{kBytesMax};
    FencedMemory inputs_{kBytesMax};
    FencedMemory ids_{kBytesMax};
    FencedMemory results_{kBytesMax};
    FencedMemory working_{kBytesMax};
};

auto up_to(int64_t last) {
    return std::views::iota(int64_t{1}, last + 1);
}

/// Every number of rows of inputs that tiles leave over, with and without panels.
constexpr int64_t kCountMax = 25;
/// One row of inputs, a few and many are multiplied in ways of their own.
constexpr int64_t kCounts[] = {1, 2, 11, 17};
/// Whole panels, and some rows that are left.
constexpr int64_t kRows = 19;

} // namespace

TEST_CASE("bounds: products with quantized weights access nothing beside their operands") {
    if (!has_panels()) return;
    ggml_cpu_init();
    FencedProducts products;
    for (const ggml_type type : test::kPanelTypes) {
        const int64_t block = ggml_blck_size(type);
        for (const int64_t count : up_to(kCountMax)) products.check({type, 3 * block, kRows, count});
        for (const int64_t count : kCounts) {
            // A panel has up to 16 rows, and up to 8 blocks are multiplied or added at a time.
            for (const int64_t rows : up_to(33)) products.check({type, 3 * block, rows, count});
            for (const int64_t blocks : up_to(17)) products.check({type, blocks * block, kRows, count});
            products.check({type, 9 * block, kRows, count, Matrices::kApart});
            products.check({type, 2 * block, kRows, count, Matrices::kExperts});
            products.check({type, 2 * block, 5 * kRows, count}, 3);
        }
    }
}

TEST_CASE("bounds: products with weights that are floats access nothing beside their operands") {
    if (!has_panels()) return;
    ggml_cpu_init();
    FencedProducts products;
    for (const ggml_type type : kFloats) {
        for (const int64_t count : up_to(kCountMax)) products.check({type, 67, kRows, count});
        for (const int64_t count : kCounts) {
            // A panel has up to 64 rows.
            for (const int64_t rows : up_to(65)) products.check({type, 67, rows, count});
            // A vector has up to 32 columns, and a block up to 1,024.
            for (const int64_t columns : up_to(65)) products.check({type, columns, kRows, count});
            for (const int64_t columns : {255, 256, 257, 511, 513, 1023, 1025, 2047, 2049, 4095, 4097})
                products.check({type, columns, kRows, count});
            products.check({type, 300, kRows, count, Matrices::kApart});
            products.check({type, 67, kRows, count, Matrices::kExperts});
            products.check({type, 67, 5 * kRows, count}, 3);
        }
    }
}
