// llama's softmax over a whole vocabulary: how exact its sums are, and the ends of its draws.
#include "check.h"
#include "random.h"
#include "sampler_chain.h"
#include "sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

using base::Token;
using test::Random;
using test::Shape;

TEST_CASE("softmax: adds up a vocabulary to within rounding") {
    for (const size_t tokens : {1, 7, 256, 257, 32'000}) {
        for (const float temperature : {0.2F, 1.0F, 3.0F}) {
            CAPTURE(tokens);
            CAPTURE(temperature);
            Random random(tokens);
            std::vector<float> logits(tokens);
            test::fill_logits(random, Shape::smooth, 5, logits);
            const float highest = std::ranges::max(logits);
            double expected = 0;
            for (const float logit : logits)
                expected += std::exp(static_cast<double>(logit / temperature - highest / temperature));
            std::vector<double> sums;
            const double sum = sampling::exp_sum(logits, highest, temperature, sums);
            CHECK(std::abs(sum / expected - 1) < 2e-7);
        }
    }
}

TEST_CASE("softmax: knows the share of each single token to within rounding") {
    for (int distance = 0; distance < 100 * 64; ++distance) {
        CAPTURE(distance);
        const std::vector<float> logits = {-static_cast<float>(distance) / 64};
        std::vector<double> sums;
        const double share = sampling::exp_sum(logits, 0.0F, 1.0F, sums);
        const double expected = std::exp(static_cast<double>(logits[0]));
        // Next to the end of what a float can hold it is 0.
        if (logits[0] <= -87) CHECK_EQ(share, 0.0);
        else CHECK(std::abs(share / expected - 1) < 2.5e-7);
    }
}

TEST_CASE("softmax: a draw at either end of the shares takes a token that has one") {
    for (const size_t tokens : {3, 256, 300, 5000}) {
        CAPTURE(tokens);
        std::vector<float> logits(tokens, -test::kInfinity);
        const size_t first = tokens / 3;
        const size_t last = tokens - 2;
        logits[first] = 1.0F;
        logits[last] = 0.5F;
        std::vector<double> sums;
        CHECK_EQ(sampling::draw_from_all(logits, 1.0F, 1.0F, 0.0, sums), static_cast<Token>(first));
        CHECK_EQ(sampling::draw_from_all(logits, 1.0F, 1.0F, 1.0, sums), static_cast<Token>(last));
    }
}
