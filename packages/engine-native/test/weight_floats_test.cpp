// Products with weights that are floats (files/ggml/src/ggml-cpu/panels/floats.h): their values, and that a row has the same value
// in every batch, with every number of threads, for every way to choose experts, and in every layout.
#include "check.h"
#include "random.h"
#include "weight_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

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

constexpr ggml_type kFloatTypes[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16};

Weights random_float_weights(Random& random, ggml_type type, int64_t columns, int64_t rows,
                             int64_t count = 1) {
    Weights weights{type, columns, rows, count, {}};
    weights.bytes.resize(ggml_row_size(type, columns) * static_cast<size_t>(rows * count));
    const Values values = random_values(random, columns * rows * count);
    ggml_quantize_chunk(type, values.data(), weights.bytes.data(), 0, rows * count, columns, nullptr);
    return weights;
}

/// Inputs that the product does not round further. Some processors multiply BF16 only with BF16.
Values random_inputs(Random& random, ggml_type type, int64_t count) {
    Values values = random_values(random, count);
    if (type == GGML_TYPE_BF16) {
        for (float& value : values) value = ggml_bf16_to_fp32(ggml_fp32_to_bf16(value));
    }
    return values;
}

/// The largest difference from products in double precision, as a part of the sum of their terms' magnitudes. With several
/// matrices, each meets as many neighbouring rows of inputs.
double largest_float_error(const Weights& weights, const Values& inputs, const Values& products) {
    const Values decoded = weights.decoded();
    const auto products_of_matrix = static_cast<int64_t>(products.size()) / weights.count;
    double largest = 0;
    for (size_t at = 0; at < products.size(); ++at) {
        const auto index = static_cast<int64_t>(at);
        const int64_t row = index / products_of_matrix * weights.rows + index % weights.rows;
        const float* const weight = decoded.data() + row * weights.columns;
        const float* const input = inputs.data() + index / weights.rows * weights.columns;
        double sum = 0;
        double magnitude = 0;
        for (int64_t i = 0; i < weights.columns; ++i) {
            const double term = static_cast<double>(weight[i]) * static_cast<double>(input[i]);
            sum += term;
            magnitude += std::abs(term);
        }
        const double error = std::abs(static_cast<double>(products[at]) - sum) / std::max(magnitude, 1e-30);
        if (!(error <= largest)) largest = error; // a NaN stays
    }
    return largest;
}

// Rounding sums of 4,000 terms in several lanes; a missing one gives 0.0002 and more.
constexpr double kErrorMax = 1e-6;

/// A product with inputs of another type.
struct ProductOf {
    ggml_type inputs;

    ggml_tensor* operator()(ggml_context* context, ggml_tensor* weight, ggml_tensor* input,
                            ggml_tensor*&) const {
        return ggml_mul_mat(context, weight, ggml_cast(context, input, inputs));
    }
    void set(ggml_tensor*) const {}
};

/// A product of views, as attention has them: every other row of the weights, and inputs whose second and third dimensions
/// have changed places.
struct ProductOfViews {
    ggml_tensor* operator()(ggml_context* context, ggml_tensor* weight, ggml_tensor* input,
                            ggml_tensor*&) const {
        ggml_tensor* const every_other = ggml_view_3d(context, weight, weight->ne[0], weight->ne[1] / 2,
                                                      weight->ne[2], 2 * weight->nb[1], weight->nb[2], 0);
        return ggml_mul_mat(context, every_other, ggml_permute(context, input, 0, 2, 1, 3));
    }
    void set(ggml_tensor*) const {}
};

} // namespace

TEST_CASE("floats: products are exact but for the rounding of sums, for every shape") {
    if (!has_panels()) return;
    Random random(1);
    for (const ggml_type type : kFloatTypes) {
        for (const int64_t rows : {1, 3, 17, 45}) {
            for (const int64_t columns : {1, 15, 64, 257, 1100, 4100}) {
                const Weights weights = random_float_weights(random, type, columns, rows);
                for (const int64_t count : {1, 2, 5, 11, 12, 13, 33}) {
                    const Values inputs = random_inputs(random, type, count * columns);
                    const std::string type_name = ggml_type_name(type);
                    CAPTURE(type_name);
                    CAPTURE(rows);
                    CAPTURE(columns);
                    CAPTURE(count);
                    CHECK(largest_float_error(weights, inputs, product(2, weights, inputs)) < kErrorMax);
                }
            }
        }
    }
}

TEST_CASE(
    "floats: a row's products are the same bits alone, in every batch and with every number of threads") {
    if (!has_panels()) return;
    Random random(2);
    constexpr int64_t kCount = 40;
    for (const ggml_type type : kFloatTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        for (const int64_t columns : {100, 2048, 2500}) {
            CAPTURE(columns);
            const int64_t rows = columns == 2048 ? 96 : 83; // whole panels, and not
            const Weights weights = random_float_weights(random, type, columns, rows);
            const Values inputs = random_values(random, kCount * columns);
            const Values expected = product(1, weights, inputs);
            const auto check_batch = [&](int64_t first, int64_t count, int threads) {
                CAPTURE(first);
                CAPTURE(count);
                CAPTURE(threads);
                const auto* const begin = inputs.data() + first * columns;
                const Values products = product(threads, weights, Values(begin, begin + count * columns));
                CHECK(same_bits(products.data(), expected.data() + first * rows, count * rows));
            };
            for (int64_t first = 0; first < kCount; ++first) check_batch(first, 1, 1);
            for (int64_t count = 2; count <= 33; ++count)
                check_batch(random.between(0, static_cast<int32_t>(kCount - count)), count, 1);
            for (int threads = 2; threads <= 8; ++threads) {
                check_batch(random.between(0, kCount - 1), 1, threads);
                check_batch(0, kCount, threads);
            }
            // A prompt in random chunks.
            for (int64_t first = 0; first < kCount;) {
                const int64_t count = std::min<int64_t>(kCount - first, random.between(1, 15));
                check_batch(first, count, random.between(1, 8));
                first += count;
            }
        }
    }
}

TEST_CASE("floats: an expert's products are the same bits as those of its matrix alone") {
    if (!has_panels()) return;
    Random random(3);
    for (const ggml_type type : kFloatTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_float_weights(random, type, 520, 35, 5);
        for (const int64_t tokens : {1, 3, 60}) {
            CAPTURE(tokens);
            check_experts(random, weights, tokens);
        }
    }
}

TEST_CASE("floats: several matrices, and views of weights and inputs, are multiplied as each alone") {
    if (!has_panels()) return;
    Random random(4);
    constexpr int64_t kMatrices = 3;
    constexpr int64_t kShared = 2; // matrices of inputs that meet one of weights
    for (const ggml_type type : kFloatTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        for (const int64_t count : {1, 7, 20}) {
            CAPTURE(count);
            const Weights weights = random_float_weights(random, type, 72, 34, kMatrices);
            const int64_t rows_of_inputs = count * kMatrices * kShared;
            const Values inputs = random_inputs(random, type, rows_of_inputs * weights.columns);
            const Values products =
                compute(3, weights, {weights.columns, count, kMatrices * kShared}, inputs, test::Product{});
            CHECK(largest_float_error(weights, inputs, products) < kErrorMax);

            // The same values where the views find them.
            Weights spread = weights;
            const size_t row_size = ggml_row_size(type, weights.columns);
            spread.rows *= 2;
            spread.bytes.assign(2 * weights.bytes.size(), 0xff); // all NaN
            for (size_t row = 0; row < weights.bytes.size() / row_size; ++row)
                std::copy_n(weights.bytes.data() + row * row_size, row_size,
                            spread.bytes.data() + 2 * row * row_size);
            Values permuted;
            for (int64_t row = 0; row < count; ++row) {
                for (int64_t matrix = 0; matrix < kMatrices * kShared; ++matrix) {
                    const auto* const from = inputs.data() + (matrix * count + row) * weights.columns;
                    permuted.insert(permuted.end(), from, from + weights.columns);
                }
            }
            const Values of_views =
                compute(2, spread, {weights.columns, kMatrices * kShared, count}, permuted, ProductOfViews{});
            CHECK(same_bits(of_views.data(), products.data(), static_cast<int64_t>(products.size())));
        }
    }
}

TEST_CASE("floats: inputs of 16 bits give what the same inputs of 32 bits give") {
    if (!has_panels()) return;
    Random random(5);
    for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_BF16}) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_float_weights(random, type, 600, 40);
        for (const int64_t count : {1, 4, 30}) {
            CAPTURE(count);
            Values inputs = random_values(random, count * weights.columns);
            for (float& value : inputs) value = std::round(value * 64) / 64; // any type holds it
            const Values expected = product(1, weights, inputs);
            const Values products = compute(2, weights, {weights.columns, count}, inputs, ProductOf{type});
            CHECK(same_bits(products.data(), expected.data(), static_cast<int64_t>(expected.size())));
        }
    }
}

TEST_CASE("floats: a row with infinities and NaN changes no other row") {
    if (!has_panels()) return;
    Random random(6);
    constexpr int64_t kBad = 2;
    for (const ggml_type type : kFloatTypes) {
        const std::string type_name = ggml_type_name(type);
        CAPTURE(type_name);
        const Weights weights = random_float_weights(random, type, 77, 33);
        for (const int64_t count : {4, 25}) {
            CAPTURE(count);
            Values inputs = random_values(random, count * weights.columns);
            const Values expected = product(1, weights, inputs);
            std::fill_n(inputs.begin() + kBad * weights.columns, weights.columns,
                        std::numeric_limits<float>::infinity());
            inputs[static_cast<size_t>(kBad * weights.columns)] = std::numeric_limits<float>::quiet_NaN();
            const Values products = product(1, weights, inputs);
            for (int64_t row = 0; row < count; ++row) {
                const int64_t first = row * weights.rows;
                if (row == kBad) CHECK(std::isnan(products[static_cast<size_t>(first)]));
                else CHECK(same_bits(products.data() + first, expected.data() + first, weights.rows));
            }
        }
    }
}
