// A Sampler that gets only the likeliest tokens against one that gets all logits, with options, penalties and logits at random: the same
// token at the same seed wherever it says that they suffice, for as many tokens as it was asked for.
#include "check.h"
#include "random.h"
#include "sampler_chain.h"
#include "sampling/sampler.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using base::Token;
using sampling::Candidates;
using sampling::Sampler;
using sampling::Sampling;
using test::Random;

namespace {

struct LikeliestCase {
    sampling::Vocabulary vocabulary;
    Sampling sampling;
    std::vector<Token> prompt;
};

LikeliestCase random_likeliest_case(Random& random) {
    LikeliestCase one{.vocabulary = {.size = random.one_of(std::vector<int32_t>{300, 1000, 5000})},
                      .sampling = {.temperature = random.one_of(std::vector<float>{0, 0.1F, 0.8F, 1.5F}),
                                   .top_k = random.one_of(std::vector<int32_t>{0, 1, 5, 40}),
                                   .top_p = random.one_of(std::vector<float>{1, 0.9F, 0.5F}),
                                   .min_p = random.one_of(std::vector<float>{0, 0.05F}),
                                   .repeat_penalty = random.one_of(std::vector<float>{1, 1.1F, 0.9F}),
                                   .repeat_last_n = random.one_of(std::vector<int32_t>{0, 3, 64}),
                                   .presence_penalty = random.one_of(std::vector<float>{0, 0.5F, -0.5F}),
                                   .frequency_penalty = random.one_of(std::vector<float>{0, 0.5F}),
                                   .seed = static_cast<uint32_t>(random.below(1U << 31)),
                                   .logit_bias = {}},
                      .prompt = {}};
    Sampling& sampling = one.sampling;
    const auto token = [&] { return random.between(0, one.vocabulary.size - 1); };
    for (int32_t i = random.between(0, 100); i > 0; --i) one.prompt.push_back(token());
    if (random.chance(30)) one.vocabulary.ends = {token(), token()};
    if (random.chance(30)) sampling.min_tokens = 20;
    if (random.chance(20)) sampling.typical_p = 0.7F;
    if (random.chance(20)) sampling.xtc_probability = 0.5F;
    if (random.chance(20)) sampling.dynatemp_range = 0.3F;
    if (random.chance(10)) sampling.top_n_sigma = 1.5F;
    if (random.chance(10)) sampling.dry.multiplier = 0.8F;
    if (random.chance(10)) sampling.mirostat.version = 2;
    if (random.chance(10)) sampling.adaptive.target = 0.3F;
    if (random.chance(20))
        sampling.order = random.one_of(std::vector<std::string>{"kept", "tekp", "ek", "pk"});
    for (int32_t i = random.chance(40) ? random.between(1, 9) : 0; i > 0; --i)
        sampling.logit_bias.push_back(
            {.token = token(), .bias = random.one_of(std::vector<float>{-3, -0.1F, 0, -test::kInfinity})});
    if (random.chance(10)) sampling.logit_bias.push_back({.token = token(), .bias = 2});
    return one;
}

/// All different, so that no two samplers have to agree on an order of equals.
std::vector<float> random_logits(Random& random, int32_t size) {
    std::vector<float> logits(static_cast<size_t>(size));
    for (size_t i = 0; i < logits.size(); ++i)
        logits[i] = 8 - 0.01F * (static_cast<float>(i) + 0.001F * static_cast<float>(random.below(900)));
    for (size_t i = logits.size(); i > 1; --i) std::swap(logits[i - 1], logits[random.below(i)]);
    return logits;
}

/// The `most` likeliest tokens, as a device selects them: in no order.
void select(Random& random, const std::vector<float>& logits, size_t most, Candidates& candidates) {
    std::vector<Token> tokens(logits.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    std::ranges::sort(tokens, std::greater<>(),
                      [&](Token token) { return logits[static_cast<size_t>(token)]; });
    tokens.resize(std::min(most, tokens.size()));
    candidates.list.clear();
    for (const Token token : tokens)
        candidates.list.push_back({.token = token, .logit = logits[static_cast<size_t>(token)], .p = 0});
    for (size_t i = candidates.list.size(); i > 1; --i)
        std::swap(candidates.list[i - 1], candidates.list[random.below(i)]);
}

} // namespace

TEST_CASE(
    "sampler: the likeliest tokens give the same tokens as all logits, wherever it says that they suffice") {
    Random random(20'261'128);
    int followed = 0;
    for (int round = 0; round < 2000; ++round) {
        CAPTURE(round);
        const LikeliestCase one = random_likeliest_case(random);
        Sampler of_all(one.vocabulary, one.sampling, one.prompt);
        Sampler of_few(one.vocabulary, one.sampling, one.prompt);
        Candidates candidates;
        for (int step = 0; step < 8; ++step) {
            const auto tokens = static_cast<size_t>(random.between(1, 4));
            const std::optional<size_t> needed = of_few.likeliest_needed(tokens);
            if (!needed) break;
            followed += 1;
            for (size_t i = 0; i < tokens; ++i) {
                std::vector<float> logits = random_logits(random, one.vocabulary.size);
                const Token token = of_all.sample(logits.data(), candidates);
                select(random, logits, *needed, candidates);
                REQUIRE_EQ(of_few.sample_among_likeliest(candidates), token);
            }
        }
    }
    CHECK(followed > 2000);
}

TEST_CASE("sampler: the likeliest tokens do not suffice where others may overtake them, or all probabilities "
          "count") {
    const auto needed = [](const auto& change) {
        Sampling sampling{.temperature = 0.8F,
                          .top_k = 40,
                          .top_p = 0.9F,
                          .min_p = 0,
                          .repeat_penalty = 1.1F,
                          .repeat_last_n = 64,
                          .presence_penalty = 0,
                          .frequency_penalty = 0,
                          .seed = 1,
                          .logit_bias = {}};
        change(sampling);
        const std::vector<Token> prompt{1, 2, 3, 3};
        return Sampler({.size = 1000}, sampling, prompt).likeliest_needed(1);
    };
    CHECK(needed([](Sampling&) {}) == size_t{43}); // three tokens are penalized
    CHECK(needed([](Sampling& sampling) { sampling.temperature = 0; }) == size_t{4});
    CHECK(needed([](Sampling& sampling) { sampling.logit_bias = {{.token = 9, .bias = -1}}; }) == size_t{44});
    CHECK(!needed([](Sampling& sampling) { sampling.logit_bias = {{.token = 9, .bias = 1}}; }));
    CHECK(!needed([](Sampling& sampling) { sampling.repeat_penalty = 0.9F; }));
    CHECK(!needed([](Sampling& sampling) { sampling.presence_penalty = -1; }));
    CHECK(!needed([](Sampling& sampling) { sampling.top_k = 0; }));
    CHECK(!needed([](Sampling& sampling) { sampling.dry.multiplier = 1; }));
    CHECK(!needed([](Sampling& sampling) { sampling.mirostat.version = 1; }));
    CHECK(!needed([](Sampling& sampling) { sampling.adaptive.target = 0.5F; }));
    CHECK(!needed([](Sampling& sampling) { sampling.top_n_sigma = 1; }));
    CHECK(!needed([](Sampling& sampling) { sampling.order = "pk"; }));
}
