// What tests of products with weights make, compute and own.
#pragma once

#include "check.h"
#include "random.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace test {

struct FreeGgml {
    void operator()(ggml_context* context) const { ggml_free(context); }
    void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
    void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeGgml>;

using Values = std::vector<float>;

/// From -1 to 1, in steps of 2^-20.
inline Values random_values(Random& random, int64_t count) {
    constexpr uint64_t kSteps = 1 << 20;
    Values values(static_cast<size_t>(count));
    for (float& value : values)
        value = static_cast<float>(random.below(2 * kSteps)) / static_cast<float>(kSteps) - 1;
    return values;
}

/// One or several matrices of equal size, one after the other.
struct Weights {
    ggml_type type;
    int64_t columns;
    int64_t rows; // of each matrix
    int64_t count;
    std::vector<uint8_t> bytes;

    /// One of them, as weights of its own.
    Weights matrix(int32_t index) const {
        const size_t size = bytes.size() / static_cast<size_t>(count);
        const auto* const from = bytes.data() + static_cast<size_t>(index) * size;
        return {type, columns, rows, 1, {from, from + size}};
    }

    Values decoded() const {
        Values values(static_cast<size_t>(columns * rows * count));
        if (type == GGML_TYPE_F32) std::memcpy(values.data(), bytes.data(), bytes.size());
        else ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), columns * rows * count);
        return values;
    }
};

/// Computes one operation on new tensors: `build` creates it from the weights and the inputs.
template <class Build>
Values compute(int threads, const Weights& weights, const std::vector<int64_t>& shape, const Values& inputs,
               Build build) {
    const Owned<ggml_backend> backend(ggml_backend_cpu_init());
    ggml_backend_cpu_set_n_threads(backend.get(), threads);
    const Owned<ggml_context> context(
        ggml_init({8 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true}));
    ggml_tensor* const weight =
        ggml_new_tensor_3d(context.get(), weights.type, weights.columns, weights.rows, weights.count);
    ggml_tensor* const input =
        ggml_new_tensor(context.get(), GGML_TYPE_F32, static_cast<int>(shape.size()), shape.data());
    ggml_tensor* ids = nullptr;
    ggml_tensor* const output = build(context.get(), weight, input, ids);
    const Owned<ggml_backend_buffer> held(
        ggml_backend_alloc_ctx_tensors_from_buft(context.get(), ggml_backend_cpu_buffer_type()));
    ggml_backend_tensor_set(weight, weights.bytes.data(), 0, weights.bytes.size());
    ggml_backend_tensor_set(input, inputs.data(), 0, inputs.size() * sizeof(float));
    build.set(ids);
    ggml_cgraph* const graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, output);
    REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
    Values values(static_cast<size_t>(ggml_nelements(output)));
    ggml_backend_tensor_get(output, values.data(), 0, values.size() * sizeof(float));
    return values;
}

struct Product {
    ggml_tensor* operator()(ggml_context* context, ggml_tensor* weight, ggml_tensor* input,
                            ggml_tensor*&) const {
        return ggml_mul_mat(context, weight, input);
    }
    void set(ggml_tensor*) const {}
};

struct ExpertProduct {
    const std::vector<int32_t>& experts; // of each token, `used` after one another
    int64_t used;

    ggml_tensor* operator()(ggml_context* context, ggml_tensor* weight, ggml_tensor* input,
                            ggml_tensor*& ids) const {
        ids = ggml_new_tensor_2d(context, GGML_TYPE_I32, used, static_cast<int64_t>(experts.size()) / used);
        return ggml_mul_mat_id(context, weight, input, ids);
    }
    void set(ggml_tensor* ids) const {
        ggml_backend_tensor_set(ids, experts.data(), 0, experts.size() * sizeof(int32_t));
    }
};

inline Values product(int threads, const Weights& weights, const Values& inputs) {
    const auto count = static_cast<int64_t>(inputs.size()) / weights.columns;
    return compute(threads, weights, {weights.columns, count}, inputs, Product{});
}

inline bool same_bits(const float* a, const float* b, int64_t count) {
    return std::memcmp(a, b, static_cast<size_t>(count) * sizeof(float)) == 0;
}

/// Checks that the products of `tokens` tokens with two matrices each are the same bits as those of each matrix alone. The matrices of a
/// token read the same inputs, as in a layer's first product, or each its own, as in the second one. The last matrix is never chosen.
inline void check_experts(Random& random, const Weights& weights, int64_t tokens) {
    constexpr int64_t kUsed = 2;
    const auto choices = static_cast<int32_t>(weights.count - 1);
    std::vector<int32_t> experts;
    for (int64_t token = 0; token < tokens; ++token) {
        const int32_t first = random.between(0, choices - 1);
        experts.insert(experts.end(), {first, (first + 1) % choices});
    }
    for (const int64_t inputs_of_token : {int64_t{1}, kUsed}) {
        CAPTURE(inputs_of_token);
        const Values inputs = random_values(random, tokens * inputs_of_token * weights.columns);
        const Values products =
            compute(random.between(1, 4), weights, {weights.columns, inputs_of_token, tokens}, inputs,
                    ExpertProduct{experts, kUsed});
        for (size_t at = 0; at < experts.size(); ++at) {
            const auto token = static_cast<int64_t>(at) / kUsed;
            const auto use = static_cast<int64_t>(at) % kUsed;
            const auto* const input =
                inputs.data() + (token * inputs_of_token + use % inputs_of_token) * weights.columns;
            // Two rows: a single one may be computed in another way.
            Values inputs_twice(input, input + weights.columns);
            inputs_twice.insert(inputs_twice.end(), input, input + weights.columns);
            const Values expected = product(1, weights.matrix(experts[at]), inputs_twice);
            CHECK(same_bits(products.data() + static_cast<int64_t>(at) * weights.rows, expected.data(),
                            weights.rows));
        }
    }
}

/// The quantized types whose products panels compute.
inline constexpr ggml_type kPanelTypes[] = {
    GGML_TYPE_Q4_0,    GGML_TYPE_Q5_0,  GGML_TYPE_Q8_0,    GGML_TYPE_IQ4_NL, GGML_TYPE_MXFP4,
    GGML_TYPE_Q2_K,    GGML_TYPE_Q3_K,  GGML_TYPE_Q4_K,    GGML_TYPE_Q5_K,   GGML_TYPE_Q6_K,
    GGML_TYPE_IQ4_XS,  GGML_TYPE_IQ3_S, GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ2_S,  GGML_TYPE_IQ2_XS,
    GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ1_S, GGML_TYPE_IQ1_M,
};

/// Panels need AVX2; elsewhere upstream's products are used.
inline bool has_panels() {
    return ggml_cpu_has_avx2() != 0 && ggml_cpu_has_fma() != 0;
}

} // namespace test
