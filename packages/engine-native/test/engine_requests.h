// Requests for the engine's tests: they share prefixes, continue each other, wait, and skip the prefix cache. And a check that a
// failed decode changes none of their texts.
#pragma once

#include "check.h"
#include "engine_harness.h"

#include <cstdint>
#include <vector>

namespace test {

/// Tokens that differ for each number from the first on.
inline std::vector<Token> words(int32_t number, int32_t count) {
    std::vector<Token> tokens;
    for (int32_t i = 0; i < count; ++i) tokens.push_back(1000 + (number * 997 + i * 131) % 20'000);
    return tokens;
}

inline std::vector<Token> joined(std::vector<Token> tokens, const std::vector<Token>& more) {
    tokens.insert(tokens.end(), more.begin(), more.end());
    return tokens;
}

/// Seven requests for three slots. Messages end with the end token, where a hybrid model's state is saved.
inline std::vector<TextRequest> requests(const ModelPtr& model) {
    const std::vector<Token> end{model->info().tokens.eos};
    const std::vector<Token> system = joined(words(1, 24), end);
    const std::vector<Token> chat = joined(words(2, 29), end);
    return {
        {.prompt = joined(joined(system, words(3, 9)), end), .tokens = 8},
        {.prompt = joined(joined(system, words(4, 5)), end), .tokens = 11},
        {.prompt = chat, .tokens = 5},
        {.prompt = joined(joined(system, words(5, 12)), end), .tokens = 7},
        {.prompt = words(6, 5), .tokens = 12, .uses_cache = false},
        {.prompt = joined(joined(chat, words(7, 4)), end), .tokens = 6},
        {.prompt = words(8, 40), .tokens = 4},
    };
}

/// The text of each request alone, without faults.
inline std::vector<std::string> texts_alone(const ModelPtr& model, const std::vector<TextRequest>& requests) {
    EngineHarness harness(model);
    std::vector<std::string> texts;
    for (TextRequest request : requests) {
        request.uses_cache = false;
        texts.push_back(harness.generate(request).text);
    }
    return texts;
}

/// Generates the texts of requests() with `texts_of(harness, requests)`, over and over: each time another decode fails, once and in
/// each of several ways, and no text may change. Returns the number of decodes in a run.
inline int check_failed_decodes(const ModelPtr& model, const engine::EngineOptions& options,
                                const auto& texts_of) {
    const std::vector<TextRequest> asked = requests(model);
    const std::vector<std::string> texts = texts_alone(model, asked);
    int decodes = 0;
    for (const Fault fault : {Fault::refused, Fault::no_cell, Fault::late_thrown, Fault::broken_midway}) {
        decodes = 0;
        for (int n = 1; n == 1 || decodes >= n; n += 3) {
            CAPTURE(static_cast<int>(fault));
            CAPTURE(n);
            EngineHarness harness(model, options);
            decodes = 0;
            const WithFaults with(
                {.decode = [&](const llama_batch&) { return ++decodes == n ? fault : Fault::none; }});
            CHECK_EQ(texts_of(harness, asked), texts);
            CHECK_EQ(faults().misplaced, 0);
        }
    }
    return decodes;
}

} // namespace test
