// llama/computable: operations that the processor can compute are let through, and those over which it would end the process are not.
#include "check.h"
#include "llama/backend/assertions.h"

#include <array>
#include <cmath>
#include <functional>
#include <memory>

#include "ggml-backend.h"

using llama::not_computable;

namespace {

using Make = std::function<ggml_tensor*(ggml_context*)>;

/// Whether the operation that `make` makes may be computed; `fill` is called when its operands have memory.
bool may_compute(const Make& make, const std::function<void(ggml_tensor&)>& fill = {}) {
    const ggml_init_params params{
        .mem_size = 64 * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true};
    const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(ggml_init(params), ggml_free);
    ggml_tensor* node = make(context.get());
    const std::unique_ptr<ggml_backend, decltype(&ggml_backend_free)> processor(
        ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr), ggml_backend_free);
    const std::unique_ptr<ggml_backend_buffer, decltype(&ggml_backend_buffer_free)> memory(
        ggml_backend_alloc_ctx_tensors(context.get(), processor.get()), ggml_backend_buffer_free);
    REQUIRE(memory != nullptr);
    if (fill) fill(*node);
    return !not_computable(*node).has_value();
}

ggml_tensor* matrix(ggml_context* context, ggml_type type, int64_t columns = 32, int64_t rows = 4) {
    return ggml_new_tensor_2d(context, type, columns, rows);
}

} // namespace

TEST_CASE("computable: numbers of 32 bits are added to any floats, others to their like only") {
    const auto added = [](ggml_type left, ggml_type right) {
        return may_compute([=](auto* ctx) { return ggml_add(ctx, matrix(ctx, left), matrix(ctx, right)); });
    };
    CHECK(added(GGML_TYPE_F32, GGML_TYPE_F32));
    CHECK(added(GGML_TYPE_F16, GGML_TYPE_F32));
    CHECK(added(GGML_TYPE_BF16, GGML_TYPE_BF16));
    CHECK_FALSE(added(GGML_TYPE_F32, GGML_TYPE_F16));
    CHECK_FALSE(added(GGML_TYPE_F32, GGML_TYPE_I32));
    CHECK_FALSE(added(GGML_TYPE_F32, GGML_TYPE_Q8_0));
    CHECK_FALSE(added(GGML_TYPE_F32, GGML_TYPE_F64));
}

TEST_CASE("computable: matrices are of floats or quantized") {
    const auto multiplied = [](ggml_type type) {
        return may_compute(
            [=](auto* ctx) { return ggml_mul_mat(ctx, matrix(ctx, type), matrix(ctx, GGML_TYPE_F32)); });
    };
    for (const ggml_type type :
         {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0})
        CHECK(multiplied(type));
    CHECK_FALSE(may_compute(
        [](auto* ctx) { return ggml_mul_mat(ctx, matrix(ctx, GGML_TYPE_F16), matrix(ctx, GGML_TYPE_I32)); }));
    for (const ggml_type type : {GGML_TYPE_I32, GGML_TYPE_I8, GGML_TYPE_F64}) CHECK_FALSE(multiplied(type));
}

TEST_CASE("computable: quantized numbers are not copied turned over") {
    const auto turned = [](ggml_type type) {
        return may_compute(
            [=](auto* ctx) { return ggml_cont(ctx, ggml_transpose(ctx, matrix(ctx, type, 64, 64))); });
    };
    CHECK(turned(GGML_TYPE_F32));
    CHECK(turned(GGML_TYPE_F16));
    CHECK_FALSE(turned(GGML_TYPE_Q8_0));
    CHECK(may_compute([](auto* ctx) { return ggml_cont(ctx, matrix(ctx, GGML_TYPE_Q8_0)); }));
}

TEST_CASE("computable: rows are those of the table") {
    const auto picked = [](int32_t row) {
        const std::array<int32_t, 2> rows{0, row};
        return may_compute(
            [](auto* ctx) {
                ggml_tensor* chosen = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 2);
                return ggml_get_rows(ctx, matrix(ctx, GGML_TYPE_F32), chosen);
            },
            [&](ggml_tensor& node) { ggml_backend_tensor_set(node.src[1], rows.data(), 0, sizeof rows); });
    };
    CHECK(picked(3));
    CHECK_FALSE(picked(4));
    CHECK_FALSE(picked(-1));
}

TEST_CASE("computable: what is added to a norm's variance is a number, and none below zero") {
    const auto normed = [](float epsilon) {
        return may_compute([=](auto* ctx) { return ggml_norm(ctx, matrix(ctx, GGML_TYPE_F32), epsilon); });
    };
    CHECK(normed(1e-6F));
    CHECK(normed(0));
    CHECK_FALSE(normed(-1));
    CHECK_FALSE(normed(std::nanf("")));
    CHECK_FALSE(
        may_compute([](auto* ctx) { return ggml_group_norm(ctx, matrix(ctx, GGML_TYPE_F32), 1, -1); }));
}
