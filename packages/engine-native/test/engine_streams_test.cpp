// The engine with a stream of cells for each sequence, as on a GPU, instead of one pool for all: no text depends on it.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"

#include <cstdint>
#include <string>
#include <vector>

using test::EngineHarness;
using test::Fault;
using test::Reply;
using test::TextRequest;

namespace {

/// Three sequences that run, and three cached ones.
engine::EngineOptions in_streams() {
    engine::EngineOptions options = test::few_places();
    options.context.kv_unified = "off";
    options.context.cells = 6 * options.context.context_length;
    return options;
}

std::vector<std::string> texts_of(const std::vector<Reply>& replies) {
    std::vector<std::string> texts;
    for (const Reply& reply : replies) texts.push_back(reply.text);
    return texts;
}

/// Sequences of a batch that are not next to the one before them, which llama.cpp would compute one after the other.
int32_t gaps_in(const llama_batch& batch) {
    int32_t gaps = 0;
    for (int32_t i = 1; i < batch.n_tokens; ++i) {
        const llama_seq_id step = batch.seq_id[i][0] - batch.seq_id[i - 1][0];
        if (step != 0 && step != 1) gaps += 1;
    }
    return gaps;
}

bool only_decodes(const llama_batch& batch) {
    for (int32_t i = 1; i < batch.n_tokens; ++i) {
        if (batch.seq_id[i][0] == batch.seq_id[i - 1][0]) return false;
    }
    return true;
}

std::string refusal(const test::ModelPtr& model, const engine::EngineOptions& options) {
    const auto started = engine::Engine::start(model, options, [](auto&&, const auto&) {});
    return started ? "" : started.error().message;
}

} // namespace

TEST_CASE(
    "engine: a text is the same in a stream as in a pool of cells, together with others, and continued") {
    const test::ModelPtr model = test::tiny_llama();
    std::vector<TextRequest> requests = test::requests(model);
    requests.push_back(
        {.prompt = test::words(9, 100), .tokens = 60}); // its oldest half is dropped on the way
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    EngineHarness harness(model, in_streams());
    CHECK_EQ(texts_of(harness.generate_all(requests)), texts);
    // Each begins with what an ended sequence has computed.
    for (size_t i = 0; i + 1 < requests.size(); ++i) {
        const Reply again = harness.generate(requests[i]);
        CHECK_EQ(again.text, texts[i]);
        if (i == 0) CHECK(again.cached > 20);
    }
    CHECK(harness.engine->stats().context_shifts > 0);
    CHECK_EQ(harness.engine->stats().cells, 6 * 128);
}

TEST_CASE("engine: with flash attention, too, a stream's text is the same alone and together with others") {
    const test::ModelPtr model = test::tiny_llama();
    const std::vector<TextRequest> requests = test::requests(model);
    engine::EngineOptions options = in_streams();
    options.context.flash_attention = "on";
    options.context.kv_type_k = options.context.kv_type_v = "f16";
    std::vector<std::string> texts;
    {
        EngineHarness harness(model, options);
        for (TextRequest request : requests) {
            request.uses_cache = false;
            texts.push_back(harness.generate(request).text);
        }
    }
    EngineHarness harness(model, options);
    CHECK_EQ(texts_of(harness.generate_all(requests)), texts);
}

TEST_CASE("engine: streams between decoding ones take a token, so that one pass computes all of them") {
    const test::ModelPtr model = test::tiny_llama();
    std::vector<TextRequest> requests = {{.prompt = test::words(1, 6), .tokens = 40},
                                         {.prompt = test::words(2, 6), .tokens = 3},
                                         {.prompt = test::words(3, 6), .tokens = 40}};
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    int32_t decoding = 0;
    int32_t fillers = 0;
    int32_t gaps = 0;
    EngineHarness harness(model, in_streams());
    const test::WithFaults with({.decode = [&](const llama_batch& batch) {
        if (!only_decodes(batch) || batch.n_tokens < 2) return Fault::none;
        decoding += 1;
        gaps += gaps_in(batch);
        for (int32_t i = 0; i < batch.n_tokens; ++i) fillers += batch.logits[i] == 0 ? 1 : 0;
        return Fault::none;
    }});
    CHECK_EQ(texts_of(harness.generate_all(requests)), texts);
    CHECK(decoding > 30);
    CHECK(fillers > 25);
    CHECK_EQ(gaps, 0);
}

TEST_CASE("engine: whatever way the n-th decode in streams fails once, every text is whole") {
    const test::ModelPtr model = test::tiny_llama();
    const auto texts_of_all = [](EngineHarness& harness, const std::vector<TextRequest>& requests) {
        return texts_of(harness.generate_all(requests));
    };
    CHECK(test::check_failed_decodes(model, in_streams(), texts_of_all) > 10);
}

TEST_CASE("engine: streams that are not possible are refused, and without a GPU nobody gets them unasked") {
    engine::EngineOptions options = in_streams();
    options.context.cells = 3 * options.context.context_length;
    CHECK(refusal(test::tiny_llama(), options).starts_with("kvUnified: each of 3 parallel requests"));
    CHECK(refusal(test::tiny_lfm2(), in_streams()).starts_with("kvUnified: this model has recurrent state."));
    options.context.kv_unified = "auto";
    EngineHarness harness(test::tiny_llama(), options);
    CHECK_EQ(harness.engine->stats().cells, 3 * 128);
    const Reply reply = harness.generate({.prompt = test::words(1, 6), .tokens = 3});
    CHECK(reply.is_whole());
}
