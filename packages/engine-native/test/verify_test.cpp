// engine::verify with real samplers on a small language: drafts change nothing about a text, whatever they are.
#include "check.h"
#include "engine/drafter.h"
#include "random.h"
#include "sampler_chain.h"
#include "sampling/sampler.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

using base::Token;
using sampling::Candidates;
using sampling::Sampler;
using sampling::Sampling;
using test::Random;

namespace {

constexpr int32_t kVocabulary = 40;
constexpr Token kEnd = 0;

/// Logits after a text: they follow from its last two tokens.
class Language {
public:
    explicit Language(uint64_t seed) : seed_(seed) {}

    std::vector<float> logits(const std::vector<Token>& text) const {
        const uint64_t last = text.empty() ? 0 : static_cast<uint64_t>(text.back());
        const uint64_t before = text.size() < 2 ? 0 : static_cast<uint64_t>(text[text.size() - 2]);
        Random random(seed_ + 1000 * last + 100'000 * before);
        std::vector<float> logits;
        for (int32_t i = 0; i < kVocabulary; ++i)
            logits.push_back(static_cast<float>(random.between(-400, 400)) / 100);
        return logits;
    }

private:
    uint64_t seed_;
};

Sampling random_sampling(Random& random) {
    Sampling sampling = test::plain();
    sampling.temperature = random.one_of(std::vector<float>{0.0F, 0.7F, 1.0F});
    sampling.top_k = random.one_of(std::vector<int32_t>{0, 5, 20});
    sampling.top_p = random.one_of(std::vector<float>{1.0F, 0.9F});
    sampling.repeat_last_n = 16;
    sampling.repeat_penalty = random.one_of(std::vector<float>{1.0F, 1.2F});
    sampling.frequency_penalty = random.one_of(std::vector<float>{0.0F, 0.4F});
    sampling.seed = static_cast<uint32_t>(random.below(1U << 31));
    return sampling;
}

struct Sampled {
    Token token;
    bool is_last;
};

std::vector<Token> plain_text(const Language& language, const Sampling& sampling, size_t length_max) {
    Sampler sampler({kVocabulary}, sampling, {});
    Candidates candidates;
    std::vector<Token> text;
    while (text.size() < length_max && (text.empty() || text.back() != kEnd)) {
        std::vector<float> logits = language.logits(text);
        text.push_back(sampler.sample(logits.data(), candidates));
    }
    return text;
}

/// With drafts that are wrong with a chance of `wrong_percent` and otherwise what follows, which only a test can know.
std::vector<Token> drafted_text(const Language& language, const Sampling& sampling, size_t length_max,
                                const std::vector<Token>& truth, Random& random, int32_t wrong_percent) {
    Sampler sampler({kVocabulary}, sampling, {});
    Candidates candidates;
    std::vector<Token> text;
    while (text.size() < length_max && (text.empty() || text.back() != kEnd)) {
        std::vector<Token> drafts;
        for (int32_t i = random.between(0, 6); i > 0; --i) {
            const size_t at = text.size() + drafts.size();
            const bool is_wrong = at >= truth.size() || random.chance(wrong_percent);
            drafts.push_back(is_wrong ? random.between(0, kVocabulary - 1) : truth[at]);
        }
        // All of the batch is computed before anything of it is sampled.
        std::vector<std::vector<float>> logits;
        std::vector<Token> computed = text;
        logits.push_back(language.logits(computed));
        for (const Token draft : drafts) {
            computed.push_back(draft);
            logits.push_back(language.logits(computed));
        }
        size_t sampled = 0;
        const engine::Verified verified = engine::verify(drafts, [&](size_t right) {
            const Token token = sampler.sample(logits[right].data(), candidates);
            sampled += 1;
            return Sampled{.token = token, .is_last = token == kEnd || text.size() + sampled == length_max};
        });
        text.insert(text.end(), drafts.begin(), drafts.begin() + verified.accepted);
        text.push_back(verified.token);
    }
    return text;
}

} // namespace

TEST_CASE("verify: texts are the same with and without drafts, greedy and seeded, with penalties and ends") {
    for (const uint64_t seed : test::seeds(300)) {
        CAPTURE(seed);
        Random random(seed);
        const Language language(seed);
        const Sampling sampling = random_sampling(random);
        const auto length_max = static_cast<size_t>(random.between(1, 60));
        const std::vector<Token> truth = plain_text(language, sampling, length_max);
        for (const int32_t wrong_percent : {0, 30, 100}) {
            CHECK_EQ(drafted_text(language, sampling, length_max, truth, random, wrong_percent), truth);
        }
    }
}

TEST_CASE(
    "verify: the distribution is that of the logits, also when the draft is always the likeliest token") {
    const Language language(7);
    Sampling sampling = test::plain();
    sampling.temperature = 1;
    constexpr int kDraws = 20'000;
    std::map<Token, int> plain;
    std::map<Token, int> drafted;
    const std::vector<Token> likeliest = plain_text(
        language,
        [&] {
            Sampling greedy = sampling;
            greedy.temperature = 0;
            return greedy;
        }(),
        3);
    Random random(1);
    for (uint32_t draw = 0; draw < kDraws; ++draw) {
        sampling.seed = draw;
        plain[plain_text(language, sampling, 3).back()] += 1;
        sampling.seed = draw + kDraws; // other draws, so that equal texts are no explanation
        drafted[drafted_text(language, sampling, 3, likeliest, random, 0).back()] += 1;
    }
    for (const auto& [token, count] : plain) {
        CAPTURE(token);
        CHECK(std::abs(count - drafted[token]) < 6 * std::sqrt(2.0 * count) + 6);
    }
}

TEST_CASE("verify: stops at the end of a text, whatever is drafted after it") {
    const std::vector<Token> drafts{4, 5, 6};
    const auto saying = [](std::vector<Sampled> all) { return [all](size_t i) { return all[i]; }; };
    engine::Verified verified = engine::verify(drafts, saying({{4, false}, {5, true}}));
    CHECK_EQ(verified.accepted, 1);
    CHECK_EQ(verified.token, 5);
    CHECK(verified.is_last);
    verified = engine::verify(drafts, saying({{4, false}, {5, false}, {6, false}, {7, false}}));
    CHECK_EQ(verified.accepted, 3);
    CHECK_EQ(verified.token, 7);
    CHECK(!verified.is_last);
}
