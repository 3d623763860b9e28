// Each sampler that leaves tokens out, and the dynamic temperature, against llama.cpp's sampler of that name: the probabilities that are
// left are the same, whether it cuts a whole vocabulary or what another one has left.
#include "sampling/cuts.h"

#include "check.h"
#include "random.h"
#include "sampler_chain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "llama-cpp.h"

using sampling::Candidate;
using sampling::Candidates;
using sampling::Pool;
using test::Random;
using test::Shape;

namespace {

/// One sampler, ours and llama.cpp's.
struct Pair {
    std::string name;
    std::function<void(Pool&)> cut;
    std::function<llama_sampler*()> reference;
};

using Choices = std::vector<float>;

Pair random_pair(Random& random, const std::string& name) {
    if (name == "top-k") {
        const int32_t k = random.one_of(std::vector<int32_t>{1, 2, 20, 128, 1000});
        return {name, [=](Pool& pool) { sampling::keep_top_k(pool, k); },
                [=] { return llama_sampler_init_top_k(k); }};
    }
    if (name == "top-p") {
        const float p = random.one_of(Choices{0.0F, 0.1F, 0.5F, 0.9F, 0.99F});
        return {name, [=](Pool& pool) { sampling::keep_top_p(pool, p, 0.0F); },
                [=] { return llama_sampler_init_top_p(p, 0); }};
    }
    if (name == "min-p") {
        const float p = random.one_of(Choices{0.001F, 0.05F, 0.3F, 1.0F});
        return {name, [=](Pool& pool) { sampling::keep_min_p(pool, p); },
                [=] { return llama_sampler_init_min_p(p, 0); }};
    }
    if (name == "typical") {
        // With less, of many tokens, rounding would decide which one is nearest to the entropy.
        const float p = random.one_of(Choices{0.1F, 0.5F, 0.9F, 0.99F});
        return {name, [=](Pool& pool) { sampling::keep_typical(pool, p); },
                [=] { return llama_sampler_init_typical(p, 0); }};
    }
    if (name == "top-n-sigma") {
        const float n = random.one_of(Choices{0.1F, 1.0F, 1.5F, 3.0F, 10.0F});
        return {name, [=](Pool& pool) { sampling::keep_top_n_sigma(pool, n); },
                [=] { return llama_sampler_init_top_n_sigma(n); }};
    }
    if (name == "xtc") {
        const float threshold = random.one_of(Choices{0.0F, 0.001F, 0.03F, 0.1F, 0.3F, 0.5F});
        return {name, [=](Pool& pool) { sampling::exclude_top_choices(pool, threshold); },
                [=] { return llama_sampler_init_xtc(1.0F, threshold, 0, 1); }};
    }
    const float temperature = random.one_of(Choices{0.0F, 0.3F, 1.0F, 2.0F});
    const float range = random.one_of(Choices{0.2F, 0.5F, 2.0F});
    const float exponent = random.one_of(Choices{0.5F, 1.0F, 3.0F});
    return {
        name,
        [=](Pool& pool) { pool.divide(sampling::dynamic_temperature(pool, temperature, range, exponent)); },
        [=] { return llama_sampler_init_temp_ext(temperature, range, exponent); }};
}

/// By token; 0 for those that were left out.
using Probabilities = std::vector<double>;

Probabilities normalized(Probabilities logits) {
    const double highest = std::ranges::max(logits);
    double sum = 0;
    for (double& logit : logits) {
        logit = std::exp(logit - highest);
        sum += logit;
    }
    for (double& p : logits) p /= sum;
    return logits;
}

Probabilities left_in(Pool& pool, size_t size) {
    Probabilities logits(size, -std::numeric_limits<double>::infinity());
    if (pool.is_list()) {
        for (const Candidate& candidate : pool.list())
            logits[static_cast<size_t>(candidate.token)] = static_cast<double>(candidate.logit);
        return normalized(logits);
    }
    for (size_t i = 0; i < size; ++i)
        logits[i] = static_cast<double>(pool.all()[i]) / static_cast<double>(pool.temperature());
    return normalized(logits);
}

class Reference {
public:
    explicit Reference(std::span<const float> logits) {
        for (size_t i = 0; i < logits.size(); ++i)
            data_.push_back({.id = static_cast<llama_token>(i), .logit = logits[i], .p = 0});
        array_ = {.data = data_.data(), .size = data_.size(), .selected = -1, .sorted = false};
    }

    void apply(const Pair& pair) {
        const llama_sampler_ptr sampler(pair.reference());
        llama_sampler_apply(sampler.get(), &array_);
    }

    Probabilities left() const {
        Probabilities logits(data_.size(), -std::numeric_limits<double>::infinity());
        for (size_t i = 0; i < array_.size; ++i)
            logits[static_cast<size_t>(array_.data[i].id)] = static_cast<double>(array_.data[i].logit);
        return normalized(logits);
    }

private:
    std::vector<llama_token_data> data_;
    llama_token_data_array array_{};
};

double variation(const Probabilities& a, const Probabilities& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
    return sum / 2;
}

Probabilities descending(Probabilities values) {
    std::ranges::sort(values, std::greater<>());
    return values;
}

const std::vector<std::string> kNames = {
    "top-k", "top-p", "min-p", "typical", "top-n-sigma", "xtc", "dynamic temperature"};

/// Applies the pairs one after the other. Which of equal logits are left may differ: then only their probabilities are compared.
double distance_after(const std::vector<Pair>& pairs, std::span<float> logits, bool has_equals) {
    Candidates scratch;
    Reference reference(logits);
    Pool pool(logits, scratch);
    for (const Pair& pair : pairs) {
        pool.flatten();
        pair.cut(pool);
        reference.apply(pair);
    }
    const Probabilities ours = left_in(pool, logits.size());
    const Probabilities theirs = reference.left();
    return has_equals ? variation(descending(ours), descending(theirs)) : variation(ours, theirs);
}

} // namespace

TEST_CASE(
    "cuts: each leaves the probabilities that llama.cpp's leaves, of a whole vocabulary and of a list") {
    for (const uint64_t seed : test::seeds(60)) {
        for (const std::string& name : kNames) {
            for (const bool is_list : {false, true}) {
                CAPTURE(seed);
                CAPTURE(name);
                CAPTURE(is_list);
                Random random(seed);
                const auto size = random.one_of(std::vector<size_t>{7, 65, 1000, 1025, 32'000});
                const Shape shape = random.one_of(std::vector<Shape>{Shape::smooth, Shape::stepped});
                std::vector<float> logits(size);
                test::fill_logits(random, shape, random.one_of(Choices{0.5F, 2, 5}), logits);
                std::vector<Pair> pairs{random_pair(random, name)};
                if (is_list) pairs.insert(pairs.begin(), random_pair(random, "top-k"));
                const bool has_equals = shape == Shape::stepped;
                const std::vector<float> before = logits;
                const double distance = distance_after(pairs, logits, has_equals);
                CAPTURE(size);
                CAPTURE(distance);
                CHECK(distance < (size < 10'000 ? 1e-4 : 1e-3));
                CHECK(logits == before);
            }
        }
    }
}

TEST_CASE("cuts: any three, one after the other, leave what llama.cpp's leave") {
    int differences = 0;
    int cases = 0;
    for (const uint64_t seed : test::seeds(400)) {
        CAPTURE(seed);
        Random random(seed);
        std::vector<float> logits(random.one_of(std::vector<size_t>{7, 65, 1000, 3000}));
        test::fill_logits(random, Shape::smooth, random.one_of(Choices{0.5F, 2, 5}), logits);
        std::vector<Pair> pairs;
        for (int i = 0; i < 3; ++i) pairs.push_back(random_pair(random, random.one_of(kNames)));
        CAPTURE(pairs[0].name + ", " + pairs[1].name + ", " + pairs[2].name);
        // A token on the edge of a cut may be in or out, by rounding.
        cases += 1;
        differences += distance_after(pairs, logits, false) < 1e-3 ? 0 : 1;
        CHECK(differences <= 2 + cases / 50);
    }
}

TEST_CASE("cuts: tokens that cannot be drawn stay out, and there is always one left") {
    for (const uint64_t seed : test::seeds(100)) {
        for (const std::string& name : kNames) {
            CAPTURE(seed);
            CAPTURE(name);
            Random random(seed);
            std::vector<float> logits(random.one_of(std::vector<size_t>{7, 65, 1000}));
            test::fill_logits(random, Shape::sparse, 2, logits);
            Candidates scratch;
            Pool pool(logits, scratch);
            if (random.chance(50)) sampling::keep_top_k(pool, 40);
            random_pair(random, name).cut(pool);
            const Probabilities left = left_in(pool, logits.size());
            double sum = 0;
            for (size_t i = 0; i < logits.size(); ++i) {
                sum += left[i];
                if (std::isinf(logits[i])) CHECK_EQ(left[i], 0.0);
            }
            CHECK(std::abs(sum - 1) < 1e-9);
        }
    }
}

TEST_CASE("cuts: XTC leaves all tokens if none has the threshold's probability") {
    std::vector<float> logits(100, 1.0F);
    Candidates scratch;
    Pool pool(logits, scratch);
    sampling::exclude_top_choices(pool, 0.3F);
    for (const double probability : left_in(pool, logits.size())) CHECK(std::abs(probability - 0.01) < 1e-6);
}
