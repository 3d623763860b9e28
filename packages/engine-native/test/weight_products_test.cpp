// Products with weights in every layout that the processor has for them: as a file holds them, and repacked for its matrix
// instructions (AMX, panels of rows). A model gets the layout that its machine has, so each machine tests its own.
#include "check.h"
#include "random.h"
#include "weight_values.h"

#include <cmath>
#include <cstdint>
#include <cstring>
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

constexpr int64_t kColumns = 512; // a multiple of every block
constexpr int64_t kRows = 96;     // a multiple of every panel

constexpr ggml_type kTypes[] = {
    GGML_TYPE_F32,  GGML_TYPE_F16,   GGML_TYPE_BF16,  GGML_TYPE_Q4_0,   GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,
    GGML_TYPE_Q5_1, GGML_TYPE_Q8_0,  GGML_TYPE_Q2_K,  GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,
    GGML_TYPE_Q6_K, GGML_TYPE_TQ1_0, GGML_TYPE_TQ2_0, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_MXFP4,
};

std::vector<uint8_t> encode(ggml_type type, const Values& values) {
    std::vector<uint8_t> bytes(ggml_row_size(type, kColumns) * kRows);
    ggml_quantize_chunk(type, values.data(), bytes.data(), 0, kRows, kColumns, nullptr);
    return bytes;
}

Values decode(ggml_type type, const std::vector<uint8_t>& bytes) {
    Values values(static_cast<size_t>(kRows * kColumns));
    if (type == GGML_TYPE_F32) std::memcpy(values.data(), bytes.data(), bytes.size());
    else ggml_get_type_traits(type)->to_float(bytes.data(), values.data(), kRows * kColumns);
    return values;
}

/// The layouts in the order in which llama.cpp tries them, the file's own last.
std::vector<ggml_backend_buffer_type_t> layouts(ggml_backend_dev_t processor) {
    std::vector<ggml_backend_buffer_type_t> found;
    auto* const extra =
        reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
            ggml_backend_dev_backend_reg(processor), "ggml_backend_dev_get_extra_bufts"));
    if (extra != nullptr) {
        for (auto* type = extra(processor); type != nullptr && *type != nullptr; ++type)
            found.push_back(*type);
    }
    found.push_back(ggml_backend_cpu_buffer_type());
    return found;
}

/// One product of `weights` with `inputs`, in a layout; nothing where the layout has no code for it.
Values product(ggml_backend_t backend, ggml_backend_buffer_type_t layout, ggml_type type,
               const std::vector<uint8_t>& weights, const Values& inputs) {
    const auto columns = static_cast<int64_t>(inputs.size()) / kColumns;
    const ggml_init_params room = {8 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true};
    const Owned<ggml_context> fixed(ggml_init(room));
    const Owned<ggml_context> computed(ggml_init(room));
    ggml_tensor* const weight = ggml_new_tensor_2d(fixed.get(), type, kColumns, kRows);
    ggml_tensor* const input = ggml_new_tensor_2d(computed.get(), GGML_TYPE_F32, kColumns, columns);
    ggml_tensor* const output = ggml_mul_mat(computed.get(), weight, input);
    const Owned<ggml_backend_buffer> held(ggml_backend_alloc_ctx_tensors_from_buft(fixed.get(), layout));
    const bool is_supported = ggml_backend_dev_supports_op(ggml_backend_get_device(backend), output);
    if (held == nullptr || !is_supported) return {};
    ggml_backend_tensor_set(weight, weights.data(), 0, weights.size());
    const Owned<ggml_backend_buffer> used(
        ggml_backend_alloc_ctx_tensors_from_buft(computed.get(), ggml_backend_cpu_buffer_type()));
    ggml_backend_tensor_set(input, inputs.data(), 0, inputs.size() * sizeof(float));
    ggml_cgraph* const graph = ggml_new_graph(computed.get());
    ggml_build_forward_expand(graph, output);
    REQUIRE(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS);
    Values values(static_cast<size_t>(kRows * columns));
    ggml_backend_tensor_get(output, values.data(), 0, values.size() * sizeof(float));
    return values;
}

double length(const float* values) {
    double sum = 0;
    for (int64_t i = 0; i < kColumns; ++i) sum += std::pow(static_cast<double>(values[i]), 2);
    return std::sqrt(sum);
}

/// The largest error, as a part of what the two rows could give at most. That of a product of other rows is 0.04 and more.
double largest_error(const Values& weights, const Values& inputs, const Values& products) {
    double largest = 0;
    for (size_t at = 0; at < products.size(); ++at) {
        const float* const weight = weights.data() + static_cast<int64_t>(at) % kRows * kColumns;
        const float* const input = inputs.data() + static_cast<int64_t>(at) / kRows * kColumns;
        double exact = 0;
        for (int64_t i = 0; i < kColumns; ++i)
            exact += static_cast<double>(weight[i]) * static_cast<double>(input[i]);
        const double error =
            std::abs(static_cast<double>(products[at]) - exact) / length(weight) / length(input);
        if (!(error <= largest)) largest = error; // a NaN stays
    }
    return largest;
}

} // namespace

TEST_CASE("weights: every layout of this processor gives the products of the decoded weights") {
    // Inputs are rounded to 8 bits, to a step of 1/127 of their block's largest.
    constexpr double kErrorMax = 0.004;
    ggml_log_set([](ggml_log_level, const char*, void*) {},
                 nullptr); // a line for each tensor that is repacked
    const Owned<ggml_backend> backend(ggml_backend_cpu_init());
    Random random(1);
    for (ggml_backend_buffer_type_t layout : layouts(ggml_backend_get_device(backend.get()))) {
        const std::string name = ggml_backend_buft_name(layout);
        for (const ggml_type type : kTypes) {
            const std::vector<uint8_t> weights = encode(type, random_values(random, kRows * kColumns));
            const Values decoded = decode(type, weights);
            for (const int64_t columns : {1, 2, 3, 4, 7, 16, 33, 64}) {
                for (const int threads : {1, 3}) {
                    ggml_backend_cpu_set_n_threads(backend.get(), threads);
                    const Values inputs = random_values(random, columns * kColumns);
                    const Values products = product(backend.get(), layout, type, weights, inputs);
                    if (products.empty()) continue;
                    const std::string type_name = ggml_type_name(type);
                    CAPTURE(name);
                    CAPTURE(type_name);
                    CAPTURE(columns);
                    CAPTURE(threads);
                    CHECK(largest_error(decoded, inputs, products) < kErrorMax);
                }
            }
        }
    }
}

TEST_CASE("weights: what panels hold is repacked for no other layout, AMX's among them") {
    if (!ggml_cpu_has_avx2()) return; // panels are written for AVX2 and later
    const Owned<ggml_backend> backend(ggml_backend_cpu_init());
    Random random(2);
    std::vector<ggml_backend_buffer_type_t> others = layouts(ggml_backend_get_device(backend.get()));
    others.pop_back(); // the file's own
    // Those that AMX's layout has.
    for (const ggml_type type : {GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K,
                                 GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_XS, GGML_TYPE_F16}) {
        const std::vector<uint8_t> weights = encode(type, random_values(random, kRows * kColumns));
        const Values inputs = random_values(random, 4 * kColumns);
        for (ggml_backend_buffer_type_t layout : others) {
            const std::string name =
                std::string(ggml_type_name(type)) + " in " + ggml_backend_buft_name(layout);
            CAPTURE(name);
            CHECK(product(backend.get(), layout, type, weights, inputs).empty());
        }
    }
}
