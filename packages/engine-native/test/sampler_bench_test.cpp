// How long a token takes to choose, beside llama.cpp's own chain. Runs with INGLE_BENCH=1, for people.
#include "check.h"
#include "random.h"
#include "sampler_chain.h"
#include "sampling/sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using base::Token;
using sampling::Candidates;
using sampling::Sampler;
using sampling::Sampling;
using test::Chain;
using test::Random;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRounds = 201;
/// More than the caches hold, as logits come fresh from the model.
constexpr size_t kRows = 8;

struct Named {
    std::string name;
    Sampling sampling;
};

std::vector<Named> chains() {
    Sampling off = test::plain();
    off.temperature = 0.8F;
    std::vector<Named> chains;
    const auto add = [&](const char* name, const auto& change) {
        chains.push_back({.name = name, .sampling = off});
        change(chains.back().sampling);
    };
    add("greedy", [](Sampling& s) { s.temperature = 0.0F; });
    add("top-k 40, top-p 0.95", [](Sampling& s) { s.top_k = 40, s.top_p = 0.95F; });
    add("top-k 40, top-p 0.95, penalties",
        [](Sampling& s) { s.top_k = 40, s.top_p = 0.95F, s.repeat_penalty = 1.1F; });
    add("top-k 1000", [](Sampling& s) { s.top_k = 1000; });
    add("top-p 0.95", [](Sampling& s) { s.top_p = 0.95F; });
    add("top-p 0.95, min-p 0.05", [](Sampling& s) { s.top_p = 0.95F, s.min_p = 0.05F; });
    add("min-p 0.05", [](Sampling& s) { s.min_p = 0.05F; });
    add("temperature", [](Sampling&) {});
    const auto usual = [](Sampling& s) { s.top_k = 40, s.top_p = 0.95F, s.min_p = 0.05F; };
    add("usual, DRY", [&](Sampling& s) { usual(s), s.dry.multiplier = 0.8F; });
    add("usual, DRY over 4096", [&](Sampling& s) { usual(s), s.dry = {.multiplier = 0.8F, .last_n = 4096}; });
    add("usual, XTC", [&](Sampling& s) { usual(s), s.xtc_probability = 1; });
    add("usual, typical 0.9", [&](Sampling& s) { usual(s), s.typical_p = 0.9F; });
    add("usual, dynamic temperature", [&](Sampling& s) { usual(s), s.dynatemp_range = 0.5F; });
    add("usual, adaptive-p", [&](Sampling& s) { usual(s), s.adaptive.target = 0.5F; });
    add("top-n-sigma 1", [](Sampling& s) { s.top_n_sigma = 1; });
    add("typical 0.9", [](Sampling& s) { s.typical_p = 0.9F; });
    add("XTC", [](Sampling& s) { s.xtc_probability = 1; });
    add("dynamic temperature", [](Sampling& s) { s.dynatemp_range = 0.5F; });
    add("mirostat 1", [](Sampling& s) { s.mirostat.version = 1; });
    add("mirostat 2", [](Sampling& s) { s.mirostat.version = 2; });
    add("min-p 0.05, adaptive-p", [](Sampling& s) { s.min_p = 0.05F, s.adaptive.target = 0.5F; });
    add("temperature first, min-p", [](Sampling& s) { s.order = "tm", s.min_p = 0.05F; });
    return chains;
}

enum class Logits {
    /// A vocabulary's noise, and above it the few dozen tokens that fit.
    peaked,
    /// The same with equals among those.
    equals,
    /// Noise alone, as no trained model has it.
    even,
};
const std::map<Logits, const char*> kLogitNames = {
    {Logits::peaked, "peaked"}, {Logits::equals, "equals"}, {Logits::even, "even"}};

std::vector<float> random_row(Random& random, int32_t vocabulary_size, Logits kind) {
    std::vector<float> row(static_cast<size_t>(vocabulary_size));
    test::fill_logits(random, test::Shape::smooth, kind == Logits::even ? 1.0F : 2.0F, row);
    if (kind == Logits::even) return row;
    const uint64_t steps = kind == Logits::equals ? 1U << 8 : 1U << 20;
    for (int i = 0; i < 50; ++i) {
        const float height = static_cast<float>(random.below(steps)) / static_cast<float>(steps);
        row[random.below(row.size())] = 6 + 10 * height;
    }
    return row;
}

double median(std::vector<double>& values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

double microseconds(const auto& work) {
    const Clock::time_point start = Clock::now();
    work();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void measure(const Named& chain, std::vector<std::vector<float>>& rows, const char* logits_name) {
    const auto vocabulary_size = static_cast<int32_t>(rows[0].size());
    std::vector<Token> prompt;
    // Of few words, so that DRY finds repetitions.
    for (Token token = 0; token < 4096; ++token) prompt.push_back(token * token % 97 * 101 % vocabulary_size);
    Sampler ours({vocabulary_size}, chain.sampling, prompt);
    Chain theirs(vocabulary_size, chain.sampling, prompt);
    Candidates candidates;
    std::vector<double> our_times;
    std::vector<double> their_times;
    Token token = 0;
    // In turn, so that whatever else the machine does meets both.
    for (int round = 0; round < kRounds; ++round) {
        std::vector<float>& row = rows[static_cast<size_t>(round) % kRows];
        our_times.push_back(microseconds([&] { token = ours.sample(row.data(), candidates); }));
        their_times.push_back(microseconds([&] {
            theirs.sample(row);
            theirs.accept(token);
        }));
    }
    const double our_median = median(our_times);
    const double their_median = median(their_times);
    std::printf("%7d  %-8s  %-34s %8.1f us  llama.cpp %8.1f us  ratio %.3f\n", vocabulary_size, logits_name,
                chain.name.c_str(), our_median, their_median, our_median / their_median);
}

} // namespace

TEST_CASE("sampler: a benchmark, with INGLE_BENCH=1") {
    if (std::getenv("INGLE_BENCH") == nullptr) return;
    for (const int32_t vocabulary_size : {32'000, 151'936}) {
        for (const Logits kind : {Logits::peaked, Logits::equals, Logits::even}) {
            Random random(1);
            std::vector<std::vector<float>> rows(kRows);
            for (std::vector<float>& row : rows) row = random_row(random, vocabulary_size, kind);
            for (const Named& chain : chains()) measure(chain, rows, kLogitNames.at(kind));
        }
    }
}
