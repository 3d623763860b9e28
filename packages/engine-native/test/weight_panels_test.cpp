// Products with quantized weights by panels (files/ggml/src/ggml-cpu/weight-panels.h): their values, and that a row has the same
// value in every batch, with every number of threads and for every way to choose experts.
#include "check.h"
#include "random.h"
#include "weight_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

using test::check_experts;
using test::compute;
using test::has_panels;
using test::product;
using test::Random;
using test::random_values;
using test::same_bits;
using test::Values;
using test::Weights;

namespace {

/// Whether groups of weights are indices of a table.
bool has_grid(ggml_type type) {
    switch (type) {
        case GGML_TYPE_IQ3_S:
        case GGML_TYPE_IQ3_XXS:
        case GGML_TYPE_IQ2_S:
        case GGML_TYPE_IQ2_XS:
        case GGML_TYPE_IQ2_XXS:
        case GGML_TYPE_IQ1_S:
        case GGML_TYPE_IQ1_M: return true;
        default: return false;
    }
}

/// Whether a single row of inputs is multiplied by upstream's code.
bool has_upstream_row(ggml_type type) {
    const bool has_16_lanes = ggml_cpu_has_avx512_vnni() != 0;
    return type == GGML_TYPE_IQ1_S || type == GGML_TYPE_IQ1_M || (type == GGML_TYPE_IQ3_S && !has_16_lanes);
}

Weights random_weights(Random& random, ggml_type type, int64_t columns, int64_t rows, int64_t count = 1) {
    Weights weights{type, columns, rows, count, {}};
    weights.bytes.resize(ggml_row_size(type, columns) * static_cast<size_t>(rows * count));
    if (has_grid(type)) { // every entry of the table, and every sign
        for (uint8_t& byte : weights.bytes) byte = static_cast<uint8_t>(random.below(256));
        // A finite scale: the first two bytes of a block are its scale; in IQ1_M the last ones have its upper bits.
        for (size_t end = ggml_type_size(type); end <= weights.bytes.size(); end += ggml_type_size(type)) {
            weights.bytes[end - ggml_type_size(type) + 1] &= 0xbf;
            weights.bytes[end - 1] &= 0xbf;
        }
        return weights;
    }
    const Values values = random_values(random, columns * rows * count);
    ggml_quantize_chunk(type, values.data(), weights.bytes.data(), 0, rows * count, columns, nullptr);
    return weights;
}

/// Inputs as they are rounded for the product: to 1/127 of the largest of those that meet one block of weights.
std::vector<double> rounded(const Values& inputs, int64_t block) {
    std::vector<double> values(inputs.size());
    for (size_t first = 0; first < inputs.size(); first += static_cast<size_t>(block)) {
        const auto end = first + static_cast<size_t>(block);
        float largest = 0;
        for (size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(inputs[i]));
        for (size_t i = first; i < end; ++i) {
            const float steps = largest > 0 ? std::nearbyint(inputs[i] * (127 / largest)) : 0;
            values[i] = static_cast<double>(steps) * static_cast<double>(largest / 127);
        }
    }
    return values;
}

/// The largest difference from products in double precision, as a part of the sum of their terms' magnitudes.
double largest_error(const Weights& weights, const Values& inputs, const Values& products) {
    const Values decoded = weights.decoded();
    const std::vector<double> exact_inputs = rounded(inputs, ggml_blck_size(weights.type));
    double largest = 0;
    for (size_t at = 0; at < products.size(); ++at) {
        const float* const weight =
            decoded.data() + static_cast<int64_t>(at) % weights.rows * weights.columns;
        const double* const input =
            exact_inputs.data() + static_cast<int64_t>(at) / weights.rows * weights.columns;
        double sum = 0;
        double magnitude = 0;
        for (int64_t i = 0; i < weights.columns; ++i) {
            const double term = static_cast<double>(weight[i]) * input[i];
            sum += term;
            magnitude += std::abs(term);
        }
        const double error = std::abs(static_cast<double>(products[at]) - sum) / std::max(magnitude, 1e-30);
        if (!(error <= largest)) largest = error; // a NaN stays
    }
    return largest;
}

} // namespace

TEST_CASE("panels: products are exact but for the rounding of floats, for every shape") {
    if (!has_panels()) return;
    // Rounding each of at most 24 blocks' sums; a wrong weight or scale gives 0.001 and more.
    constexpr double kErrorMax = 2e-6;
    constexpr double kUpstreamErrorMax = 4e-3; // it rounds inputs to other steps
    Random random(1);
    for (const ggml_type type : test::kPanelTypes) {
        const int64_t block = ggml_blck_size(type);
        for (const int64_t rows : {1, 7, 16, 37}) {
            for (const int64_t blocks : {1, 3, 8, 19}) {
                const Weights weights = random_weights(random, type, block * blocks, rows);
                for (const int64_t count : {1, 2, 3, 9, 23}) {
                    const Values inputs = random_values(random, count * weights.columns);
                    const Values products = product(2, weights, inputs);
                    const std::string type_name = ggml_type_name(type);
                    CAPTURE(type_name);
                    CAPTURE(rows);
                    CAPTURE(blocks);
                    CAPTURE(count);
                    const bool is_upstream = count == 1 && has_upstream_row(type);
                    CHECK(largest_error(weights, inputs, products) <
                          (is_upstream ? kUpstreamErrorMax : kErrorMax));
                }
            }
        }
    }
}

TEST_CASE(
    "panels: a row's products are the same bits alone, in every batch and with every number of threads") {
    if (!has_panels()) return;
    Random random(2);
    constexpr int64_t kRows = 83;
    constexpr int64_t kCount = 40;
    for (const ggml_type type : test::kPanelTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_weights(random, type, 3072, kRows);
        const Values inputs = random_values(random, kCount * weights.columns);
        const Values expected = product(1, weights, inputs);
        const auto check_batch = [&](int64_t first, int64_t count, int threads) {
            CAPTURE(first);
            CAPTURE(count);
            CAPTURE(threads);
            const auto* const begin = inputs.data() + first * weights.columns;
            const Values products = product(threads, weights, Values(begin, begin + count * weights.columns));
            CHECK(same_bits(products.data(), expected.data() + first * kRows, count * kRows));
        };
        const int64_t least = has_upstream_row(type) ? 2 : 1;
        for (int64_t count = least; count <= 17; ++count)
            check_batch(random.between(0, static_cast<int32_t>(kCount - count)), count, 1);
        for (int threads = 2; threads <= 8; ++threads) {
            check_batch(random.between(0, kCount - 2), least, threads);
            check_batch(0, kCount, threads);
        }
        // A prompt in random chunks.
        for (int64_t first = 0; first < kCount;) {
            int64_t count =
                std::min<int64_t>(kCount - first, random.between(static_cast<int32_t>(least), 13));
            if (kCount - first - count < least) count = kCount - first;
            check_batch(first, count, random.between(1, 8));
            first += count;
        }
    }
}

TEST_CASE("panels: an expert's products are the same bits as those of its matrix alone") {
    if (!has_panels()) return;
    Random random(3);
    for (const ggml_type type : test::kPanelTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_weights(random, type, 512, 35, 5);
        for (const int64_t tokens : {1, 3, 30}) {
            CAPTURE(tokens);
            if (tokens == 30 || !has_upstream_row(type)) check_experts(random, weights, tokens);
        }
    }
}

TEST_CASE("panels: several matrices at once give the same bits as each alone") {
    if (!has_panels()) return;
    Random random(5);
    constexpr int64_t kMatrices = 3;
    constexpr int64_t kCount = 4; // rows of inputs of each
    for (const ggml_type type : test::kPanelTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_weights(random, type, 512, 20, kMatrices);
        const Values inputs = random_values(random, kMatrices * kCount * weights.columns);
        const Values products =
            compute(2, weights, {weights.columns, kCount, kMatrices}, inputs, test::Product{});
        for (int64_t matrix = 0; matrix < kMatrices; ++matrix) {
            Weights one = weights;
            const size_t size = weights.bytes.size() / kMatrices;
            const auto* const from = weights.bytes.data() + static_cast<size_t>(matrix) * size;
            one.bytes.assign(from, from + size);
            one.count = 1;
            const auto* const begin = inputs.data() + matrix * kCount * weights.columns;
            const Values expected = product(1, one, Values(begin, begin + kCount * weights.columns));
            CHECK(same_bits(products.data() + matrix * kCount * weights.rows, expected.data(),
                            kCount * weights.rows));
        }
    }
}

TEST_CASE("panels: inputs of zero give zero, and the largest weights and inputs do not overflow") {
    if (!has_panels()) return;
    Random random(4);
    for (const ggml_type type : test::kPanelTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        Weights weights = random_weights(random, type, 512, 16);
        for (const float zero : product(1, weights, Values(2 * 512, 0.0F))) CHECK(zero == 0);
        if (has_grid(type)) continue; // their random bytes have the largest weights
        // Blocks of one magnitude, whose signs are those of the inputs.
        Values largest = random_values(random, 512);
        for (float& value : largest) value = value < 0 ? -1.0F : 1.0F;
        Values rows;
        for (int row = 0; row < 16; ++row) rows.insert(rows.end(), largest.begin(), largest.end());
        ggml_quantize_chunk(type, rows.data(), weights.bytes.data(), 0, 16, 512, nullptr);
        Values inputs = largest;
        inputs.insert(inputs.end(), largest.begin(), largest.end());
        CHECK(largest_error(weights, largest, product(1, weights, largest)) < 2e-6);
        CHECK(largest_error(weights, inputs, product(1, weights, inputs)) < 2e-6);
    }
}
