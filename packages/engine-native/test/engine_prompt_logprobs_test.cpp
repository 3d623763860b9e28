// Log probabilities of prompts, compared with those that llama.cpp's own logits give, whatever is computed beside them.
#include "check.h"
#include "engine/limits.h"
#include "engine_harness.h"
#include "engine_requests.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "llama-cpp.h"

using base::Token;
using test::EngineHarness;
using test::ModelPtr;
using test::Reply;
using test::TextRequest;

namespace {

/// The log probability of each token of a prompt but the first, from a context of its own.
std::vector<double> logprobs_alone(const ModelPtr& model, std::vector<Token> prompt) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 256;
    params.n_threads = params.n_threads_batch = 1;
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    const llama_context_ptr context(llama_init_from_model(model->raw(), params));
    std::vector<double> logprobs;
    for (size_t i = 0; i + 1 < prompt.size(); ++i) {
        if (llama_decode(context.get(), llama_batch_get_one(&prompt[i], 1)) != 0)
            throw std::runtime_error("a token cannot be decoded");
        const std::span logits(llama_get_logits_ith(context.get(), -1),
                               static_cast<size_t>(model->info().vocabulary_size));
        const double highest = static_cast<double>(*std::ranges::max_element(logits));
        const double sum = std::accumulate(logits.begin(), logits.end(), 0.0, [&](double all, float one) {
            return all + std::exp(static_cast<double>(one) - highest);
        });
        const auto next = static_cast<size_t>(prompt[i + 1]);
        logprobs.push_back(static_cast<double>(logits[next]) - highest - std::log(sum));
    }
    return logprobs;
}

void check_prompt(const ModelPtr& model, const TextRequest& request, const Reply& reply) {
    const auto& noted = reply.prompt_logprobs;
    REQUIRE_EQ(noted.size(), request.prompt.size());
    const std::vector<double> expected = logprobs_alone(model, request.prompt);
    CHECK(std::isnan(noted[0].chosen.logprob));
    for (size_t i = 0; i < noted.size(); ++i) {
        CAPTURE(i);
        CHECK_EQ(noted[i].chosen.id, request.prompt[i]);
        if (i == 0) continue;
        CHECK_NEAR(static_cast<double>(noted[i].chosen.logprob), expected[i - 1], 1e-4);
        REQUIRE_EQ(noted[i].top.size(), static_cast<size_t>(request.prompt_logprobs));
        for (const auto& one : noted[i].top) CHECK(one.logprob >= noted[i].top.back().logprob);
    }
    CHECK_EQ(reply.computed.front(), 0);
    CHECK_EQ(reply.computed.back(), static_cast<int32_t>(request.prompt.size()));
    CHECK(std::ranges::is_sorted(reply.computed));
    // Also those of a token that ends the reply.
    CHECK_EQ(reply.logprobs.size(), static_cast<size_t>(request.tokens));
}

/// Requests with and without log probabilities of their prompts, too long for one step and too many for the slots.
std::vector<TextRequest> mixed_requests() {
    std::vector<TextRequest> asked;
    for (const int32_t number : {1, 2, 3, 4}) {
        asked.push_back({.prompt = test::words(number, 90),
                         .tokens = 20,
                         .uses_cache = false,
                         .prompt_logprobs = number % 3});
        asked.push_back({.prompt = test::words(number, 60), .tokens = 20});
    }
    asked.push_back({.prompt = test::words(9, 1), .tokens = 1, .uses_cache = false, .prompt_logprobs = 2});
    return asked;
}

int32_t room_for_outputs(const llama::Model& model) {
    const llama::ContextOptions options = engine::options_for(model, test::few_places().context);
    const auto params = llama::context_params(model, options, engine::slots_of(model, options));
    REQUIRE(params);
    return static_cast<int32_t>(params->n_outputs_max);
}

} // namespace

TEST_CASE("prompt log probabilities: are llama.cpp's own, and change no other text") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<TextRequest> asked = mixed_requests();
        std::vector<TextRequest> plain = asked;
        for (TextRequest& request : plain) request.prompt_logprobs = -1;
        const std::vector<std::string> texts = test::texts_alone(model, plain);
        int32_t outputs_most = 0;
        const test::WithFaults with({.decode = [&](const llama_batch& batch) {
            const std::span wanted(batch.logits, static_cast<size_t>(batch.n_tokens));
            outputs_most = std::max(outputs_most, static_cast<int32_t>(std::ranges::count(wanted, 1)));
            return test::Fault::none;
        }});
        EngineHarness harness(model);
        const std::vector<Reply> replies = harness.generate_all(asked);
        for (size_t i = 0; i < asked.size(); ++i) {
            CAPTURE(i);
            CHECK_EQ(replies[i].text, texts[i]);
            if (asked[i].prompt_logprobs >= 0) check_prompt(model, asked[i], replies[i]);
            else CHECK(replies[i].prompt_logprobs.empty());
        }
        // Several at once, but never more than the context has room for.
        CHECK(outputs_most > 3);
        CHECK(outputs_most <= room_for_outputs(*model));
    }
}

TEST_CASE("prompt log probabilities: need a prompt without a cache, and one that fits") {
    EngineHarness harness(test::tiny_llama());
    const TextRequest request{
        .prompt = test::words(1, 128), .tokens = 4, .uses_cache = true, .prompt_logprobs = 0};
    CHECK(test::is_refused(harness, request));
    TextRequest without_cache = request;
    without_cache.uses_cache = false;
    CHECK(test::is_refused(harness, without_cache)); // otherwise, its oldest turns would be dropped
}
