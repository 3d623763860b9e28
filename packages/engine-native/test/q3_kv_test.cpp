// The type q3_kv: what it loses against theory, the code for this machine's processor against the plain one, and that no
// input breaks it.
#include "../src/ggml-cpu/q3-kv.h" // the processor's own functions; no public header has them
#include "check.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ggml-cpu.h"
#include "ggml.h"

using test::Random;

namespace {

constexpr ggml_type kType = GGML_TYPE_Q3_KV;
constexpr size_t kBlock = 64;

using Values = std::vector<float>;
using Bytes = std::vector<uint8_t>;

/// Of standard deviation 1, by Box and Muller's method.
float gaussian(Random& random) {
    constexpr uint64_t kSteps = 1 << 30;
    const double radius = (static_cast<double>(random.below(kSteps)) + 1) / static_cast<double>(kSteps);
    const double angle = static_cast<double>(random.below(kSteps)) / static_cast<double>(kSteps);
    return static_cast<float>(std::sqrt(-2 * std::log(radius)) * std::cos(2 * 3.14159265358979 * angle));
}

Values gaussians(Random& random, size_t count, float deviation = 1) {
    Values values(count);
    for (float& value : values) value = deviation * gaussian(random);
    return values;
}

Bytes encode(const Values& values) {
    ggml_cpu_init();
    Bytes bytes(ggml_row_size(kType, static_cast<int64_t>(values.size())));
    ggml_get_type_traits_cpu(kType)->from_float(values.data(), bytes.data(),
                                                static_cast<int64_t>(values.size()));
    return bytes;
}

Bytes encode_plainly(const Values& values) {
    Bytes bytes(ggml_row_size(kType, static_cast<int64_t>(values.size())));
    ggml_get_type_traits(kType)->from_float_ref(values.data(), bytes.data(),
                                                static_cast<int64_t>(values.size()));
    return bytes;
}

Values decode(const Bytes& bytes) {
    Values values(bytes.size() / ggml_type_size(kType) * kBlock);
    ggml_get_type_traits(kType)->to_float(bytes.data(), values.data(), static_cast<int64_t>(values.size()));
    return values;
}

double dot(const Values& a, const Values& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}

/// The mean of the squared errors, of values whose mean square is 1.
double loss(const Values& values, const Values& decoded) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += std::pow(values[i] - decoded[i], 2);
    return sum / dot(values, values);
}

Bytes to_q8_0(const Values& values) {
    Bytes bytes(ggml_row_size(GGML_TYPE_Q8_0, static_cast<int64_t>(values.size())));
    ggml_get_type_traits_cpu(GGML_TYPE_Q8_0)
        ->from_float(values.data(), bytes.data(), static_cast<int64_t>(values.size()));
    return bytes;
}

Values from_q8_0(const Bytes& bytes, size_t count) {
    Values values(count);
    ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(bytes.data(), values.data(), static_cast<int64_t>(count));
    return values;
}

} // namespace

TEST_CASE("q3_kv: 64 values take 28 bytes, and the type says that it is one") {
    CHECK(std::string(ggml_type_name(kType)) == "q3_kv");
    CHECK(ggml_is_quantized(kType));
    CHECK(ggml_row_size(kType, 64) == 28);
    CHECK(ggml_row_size(kType, 256) == 112);
}

TEST_CASE("q3_kv: Gaussian values lose less than half of what the best scalar quantizer of 3 bits does") {
    constexpr double kScalar = 0.03454; // Lloyd and Max's quantizer of 8 levels, without any scale to store
    Random random(1);
    for (const float deviation : {1e-3F, 1.0F, 300.0F}) {
        const Values values = gaussians(random, 400 * kBlock, deviation);
        const double lost = loss(values, decode(encode(values)));
        CAPTURE(deviation);
        CHECK(lost < 0.46 * kScalar);
        CHECK(lost > 0.011); // the bound of rate-distortion theory for 3.25 bits
    }
}

TEST_CASE("q3_kv: the error is orthogonal to the block, so that a key is found in full") {
    Random random(2);
    for (int i = 0; i < 100; ++i) {
        const Values values = gaussians(random, kBlock);
        const double along = dot(values, decode(encode(values))) / dot(values, values);
        CHECK_NEAR(along, 1, 1e-3); // the scale is of half precision
    }
}

TEST_CASE("q3_kv: the processor's code and the plain code find ways of the same length") {
    Random random(3);
    const Values values = gaussians(random, 200 * kBlock);
    const double fast = loss(values, decode(encode(values)));
    const double plain = loss(values, decode(encode_plainly(values)));
    CHECK_NEAR(fast, plain, 1e-4);
}

TEST_CASE("q3_kv: a dot product is that of the decoded values") {
    Random random(4);
    for (const size_t blocks : {1, 2, 3, 4, 9}) {
        const size_t count = blocks * kBlock;
        const Bytes x = encode(gaussians(random, count, 3));
        const Bytes y = to_q8_0(gaussians(random, count));
        const double expected = dot(decode(x), from_q8_0(y, count));
        float fast = 0;
        float plain = 0;
        const int n = static_cast<int>(count);
        ggml_get_type_traits_cpu(kType)->vec_dot(n, &fast, 0, x.data(), 0, y.data(), 0, 1);
        ggml_vec_dot_q3_kv_q8_0_generic(n, &plain, 0, x.data(), 0, y.data(), 0, 1);
        const double scale = std::sqrt(static_cast<double>(count)) * 3;
        CAPTURE(blocks);
        CHECK(std::abs(fast - expected) < 1e-5 * scale);
        CHECK(std::abs(plain - expected) < 1e-5 * scale);
    }
}

TEST_CASE("q3_kv: weighed values are added as they are decoded") {
    Random random(5);
    for (const size_t blocks : {1, 2, 5}) {
        const size_t count = blocks * kBlock;
        const Bytes x = encode(gaussians(random, count));
        const Values decoded = decode(x);
        const Values before = gaussians(random, count);
        Values fast = before;
        Values plain = before;
        ggml_vec_mad_q3_kv(static_cast<int>(count), fast.data(), x.data(), 0.3F);
        ggml_vec_mad_q3_kv_generic(static_cast<int>(count), plain.data(), x.data(), 0.3F);
        for (size_t i = 0; i < count; ++i) {
            CHECK(std::abs(fast[i] - (before[i] + 0.3F * decoded[i])) < 1e-5F);
            CHECK(std::abs(plain[i] - (before[i] + 0.3F * decoded[i])) < 1e-5F);
        }
    }
}

TEST_CASE("q3_kv: nothing that is stored breaks it, and what is read back is finite") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> odd = {0,      -0.0F,     1e-45F,     1e-20F,
                                    -1e-7F, 1,         -65504,     3e6F,
                                    -3e38F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
    Random random(6);
    const auto check = [](const Values& values) {
        for (const Bytes& bytes : {encode(values), encode_plainly(values)}) {
            const Values decoded = decode(bytes);
            CHECK(std::ranges::all_of(decoded, [](float value) { return std::isfinite(value); }));
        }
    };
    for (const float value : odd) {
        check(Values(kBlock, value));
        Values one(kBlock, 0.5F);
        one[random.below(kBlock)] = value;
        check(one);
    }
    for (int i = 0; i < 50; ++i) {
        Values mixed(kBlock);
        for (float& value : mixed) value = random.one_of(odd);
        check(mixed);
    }
}

TEST_CASE("q3_kv: a block of zeros stays one, and what is no number counts as nothing") {
    CHECK(decode(encode(Values(kBlock, 0))) == Values(kBlock, 0));
    Random random(7);
    Values values = gaussians(random, kBlock);
    values[5] = 0;
    const Bytes expected = encode(values);
    values[5] = std::numeric_limits<float>::quiet_NaN();
    CHECK(encode(values) == expected);
}
