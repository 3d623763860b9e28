// sampling::Sampler with every sampler that it has, in any order, against llama.cpp's chain; with those that remember what was chosen;
// and with what only a whole sampler can do: grammars, replies of a least length.
#include "check.h"
#include "grammars_under_test.h"
#include "random.h"
#include "sampler_chain.h"
#include "sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using base::Token;
using sampling::Candidates;
using sampling::Sampler;
using sampling::Sampling;
using test::Chain;
using test::Random;
using test::Shape;

namespace {

using Choices = std::vector<float>;

/// Each with even chances: on or off.
Sampling random_samplers(Random& random) {
    Sampling sampling = test::plain();
    const auto may = [&](float& option, const Choices& values) {
        if (random.chance(40)) option = random.one_of(values);
    };
    sampling.seed = static_cast<uint32_t>(random.below(1U << 31));
    may(sampling.temperature, {0.3F, 0.8F, 1.5F});
    may(sampling.top_p, {0.5F, 0.9F, 0.99F});
    may(sampling.min_p, {0.01F, 0.1F});
    may(sampling.typical_p, {0.3F, 0.9F});
    may(sampling.top_n_sigma, {1.0F, 2.5F});
    may(sampling.xtc_probability, {0.5F, 1.0F});
    may(sampling.xtc_threshold, {0.02F, 0.2F});
    may(sampling.dynatemp_range, {0.2F, 1.0F});
    may(sampling.dynatemp_exponent, {0.5F, 2.0F});
    may(sampling.repeat_penalty, {1.1F, 1.5F});
    may(sampling.frequency_penalty, {0.4F});
    may(sampling.dry.multiplier, {0.8F, 2.0F});
    may(sampling.adaptive.target, {0.1F, 0.5F, 0.9F});
    may(sampling.adaptive.decay, {0.0F, 0.5F});
    if (random.chance(70)) sampling.top_k = random.one_of(std::vector<int32_t>{2, 20, 40, 128});
    if (random.chance(30)) sampling.logit_bias = {{.token = 1, .bias = 3}, {.token = 2, .bias = -9}};
    return sampling;
}

void shuffle_order(Random& random, Sampling& sampling) {
    std::string letters = sampling.order;
    sampling.order.clear();
    while (!letters.empty()) {
        const auto at = random.below(letters.size());
        // Some are left out, and so are off.
        if (random.chance(90)) sampling.order += letters[at];
        letters.erase(at, 1);
    }
}

std::string order_in_words(const Sampling& sampling) {
    std::ostringstream words;
    words << "order " << sampling.order << ", temperature " << sampling.temperature << " +- "
          << sampling.dynatemp_range << ", top_k " << sampling.top_k << ", top_p " << sampling.top_p
          << ", min_p " << sampling.min_p << ", typical_p " << sampling.typical_p << ", sigma "
          << sampling.top_n_sigma << ", xtc " << sampling.xtc_probability << " " << sampling.xtc_threshold
          << ", dry " << sampling.dry.multiplier << ", mirostat " << sampling.mirostat.version
          << ", adaptive " << sampling.adaptive.target << ", penalties " << sampling.repeat_penalty;
    return words.str();
}

/// How many tokens are equal to llama.cpp's, one after the other: what samplers remember follows from all of them.
int equal_tokens(Random& random, const Sampling& sampling, int32_t size, int steps) {
    const std::vector<Token> prompt{1, 2, 3, 1, 2};
    Sampler sampler({size}, sampling, prompt);
    Chain chain(size, sampling, prompt);
    Candidates candidates;
    std::vector<float> logits(static_cast<size_t>(size));
    const float spread = random.one_of(Choices{1, 3});
    for (int step = 0; step < steps; ++step) {
        test::fill_logits(random, Shape::smooth, spread, logits);
        const std::vector<float> before = logits;
        const Token token = sampler.sample(logits.data(), candidates);
        CHECK(logits == before);
        if (token != chain.sample(before)) return step;
        chain.accept(token);
    }
    return steps;
}

} // namespace

TEST_CASE("sampler order: with top-k first, all samplers together take llama.cpp's tokens") {
    constexpr int kSteps = 60;
    int steps = 0;
    int equal = 0;
    for (const uint64_t seed : test::seeds(300)) {
        CAPTURE(seed);
        Random random(seed);
        Sampling sampling = random_samplers(random);
        sampling.top_k = random.one_of(std::vector<int32_t>{2, 20, 40, 128});
        if (random.chance(50)) {
            std::erase(sampling.order, 'k');
            shuffle_order(random, sampling);
            sampling.order.insert(0, 1, 'k');
        }
        CAPTURE(order_in_words(sampling));
        const auto size = random.one_of(std::vector<int32_t>{7, 65, 1025, 8000});
        const int same = equal_tokens(random, sampling, size, kSteps);
        // Rounding decides about few of them; after such a one, texts differ.
        steps += same < kSteps ? same + 1 : same;
        equal += same;
        CHECK(steps - equal <= 2 + steps / 500);
    }
    CHECK(steps > 10'000);
}

TEST_CASE("sampler order: mirostat takes llama.cpp's tokens, and so corrects itself as llama.cpp's does") {
    constexpr int kSteps = 100;
    for (const int32_t version : {1, 2}) {
        int steps = 0;
        int equal = 0;
        for (const uint64_t seed : test::seeds(100)) {
            CAPTURE(version);
            CAPTURE(seed);
            Random random(seed);
            Sampling sampling = random_samplers(random);
            sampling.repeat_penalty = 1;
            sampling.frequency_penalty = 0;
            sampling.dry.multiplier = 0;
            sampling.mirostat = {.version = version,
                                 .tau = random.one_of(Choices{1, 3, 5}),
                                 .eta = random.one_of(Choices{0.1F, 0.5F})};
            CAPTURE(order_in_words(sampling));
            const auto size = random.one_of(std::vector<int32_t>{65, 1025, 8000});
            const int same = equal_tokens(random, sampling, size, kSteps);
            steps += same < kSteps ? same + 1 : same;
            equal += same;
            // Mirostat 1 rounds a number of tokens down, so that the last bit of a power decides more often.
            CHECK(steps - equal <= 2 + steps / (version == 1 ? 100 : 500));
        }
        CHECK(steps > 5000);
    }
}

TEST_CASE("sampler order: in any order, all samplers together draw from llama.cpp's probabilities") {
    int cases = 0;
    int differences = 0;
    for (const uint64_t seed : test::seeds(300)) {
        CAPTURE(seed);
        Random random(seed);
        Sampling sampling = random_samplers(random);
        sampling.adaptive.target =
            random.one_of(Choices{0.1F, 0.5F}); // the list that it draws from has all tokens
        shuffle_order(random, sampling);
        if (!sampling.order.contains('a')) sampling.order += 'a';
        CAPTURE(order_in_words(sampling));
        const int32_t size = random.one_of(std::vector<int32_t>{7, 65, 1025});
        Sampler sampler({size}, sampling, {});
        Chain chain(size, sampling, {});
        Candidates candidates;
        std::vector<float> logits(static_cast<size_t>(size));
        test::fill_logits(random, Shape::smooth, 2, logits);
        chain.sample(logits);
        sampler.sample(logits.data(), candidates);
        std::map<Token, double> distances;
        double total = 0;
        for (const auto& candidate : candidates.list) total += static_cast<double>(candidate.p);
        for (const auto& candidate : candidates.list)
            distances[candidate.token] += static_cast<double>(candidate.p) / total;
        for (const auto& candidate : chain.drawn_from())
            distances[candidate.id] -= static_cast<double>(candidate.p);
        double distance = 0;
        for (const auto& [token, difference] : distances) distance += std::abs(difference) / 2;
        cases += 1;
        differences += distance < 1e-3 ? 0 : 1;
        // A token on the edge of a cut may be in or out.
        CHECK(differences <= 2 + cases / 50);
    }
}

TEST_CASE("sampler order: at temperature 0, XTC and typical-p leave out the likeliest token, and other cuts "
          "change nothing") {
    constexpr int32_t kSize = 50;
    const auto sampled = [](const Sampling& sampling) {
        std::vector<float> logits(kSize, 0.0F);
        logits[7] = 9;
        logits[8] = 8.9F;
        Candidates candidates;
        return Sampler({kSize}, sampling, {}).sample(logits.data(), candidates);
    };
    Sampling sampling = test::plain();
    sampling.temperature = 0;
    sampling.top_k = 40;
    sampling.top_p = 0.9F;
    sampling.top_n_sigma = 1;
    CHECK_EQ(sampled(sampling), 7);
    sampling.xtc_probability = 1;
    CHECK_EQ(sampled(sampling), 8);
    sampling.xtc_threshold = 0.6F; // off
    CHECK_EQ(sampled(sampling), 7);
    // Without a temperature among the samplers it is 1, and both are drawn.
    sampling.order = "k";
    std::map<Token, int> drawn;
    for (sampling.seed = 0; sampling.seed < 100; ++sampling.seed) drawn[sampled(sampling)] += 1;
    CHECK(drawn[7] > 20);
    CHECK(drawn[8] > 20);
}

TEST_CASE("sampler order: until a reply has its least length, no token that ends it is chosen") {
    constexpr int32_t kSize = 20;
    const std::vector<Token> ends{3, 4};
    for (const float temperature : {0.0F, 1.0F}) {
        Sampling sampling = test::plain();
        sampling.temperature = temperature;
        sampling.min_tokens = 5;
        Sampler sampler({.size = kSize, .ends = ends}, sampling, {});
        Candidates candidates;
        for (int step = 0; step < 6; ++step) {
            std::vector<float> logits(kSize, 0.0F);
            logits[3] = 30;
            const Token token = sampler.sample(logits.data(), candidates);
            CHECK_EQ(token == 3, step == 5);
            CHECK(step == 5 || token != 4);
            CHECK(logits[3] == 30);
        }
    }
}

TEST_CASE(
    "sampler order: under a grammar that refuses nothing, samplers that remember take the same tokens") {
    std::vector<std::string> texts;
    for (char letter = 'a'; letter <= 'z'; ++letter) texts.emplace_back(1, letter);
    const auto size = static_cast<int32_t>(texts.size()) + 2;
    const auto constraint = test::constraint_of("root ::= .*", texts);
    for (const uint64_t seed : test::seeds(100)) {
        CAPTURE(seed);
        Random random(seed);
        Sampling sampling = random_samplers(random);
        if (random.chance(40)) sampling.mirostat.version = random.between(1, 2);
        sampling.logit_bias = {{.token = 0, .bias = -std::numeric_limits<float>::infinity()},
                               {.token = 1, .bias = -std::numeric_limits<float>::infinity()}};
        CAPTURE(order_in_words(sampling));
        Sampler free({size}, sampling, {});
        Sampler held({size}, sampling, {}, constraint);
        Candidates candidates;
        std::vector<float> logits(static_cast<size_t>(size));
        for (int step = 0; step < 40; ++step) {
            test::fill_logits(random, Shape::smooth, 2, logits);
            const Token token = free.sample(logits.data(), candidates);
            CHECK_EQ(held.sample(logits.data(), candidates), token);
        }
    }
}

TEST_CASE("sampler order: under a grammar, every sampler chooses what the grammar allows") {
    std::vector<std::string> texts;
    for (char letter = 'a'; letter <= 'z'; ++letter) texts.emplace_back(1, letter);
    const auto size = static_cast<int32_t>(texts.size()) + 2;
    const auto constraint = test::constraint_of("root ::= [x-z]*", texts);
    for (const uint64_t seed : test::seeds(200)) {
        CAPTURE(seed);
        Random random(seed);
        Sampling sampling = random_samplers(random);
        shuffle_order(random, sampling);
        if (random.chance(40)) sampling.mirostat.version = random.between(1, 2);
        if (random.chance(20)) sampling.temperature = 0;
        CAPTURE(order_in_words(sampling));
        Sampler sampler({size}, sampling, {}, constraint);
        Candidates candidates;
        std::vector<float> logits(static_cast<size_t>(size));
        for (int step = 0; step < 40; ++step) {
            test::fill_logits(random, Shape::smooth, 3, logits);
            const Token token = sampler.sample(logits.data(), candidates);
            if (constraint->pieces->is_end(token)) break;
            CHECK(constraint->text_of(token) >= "x");
        }
    }
}
