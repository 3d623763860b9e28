// The engine where each output selects its likeliest tokens next to its logits, as on a GPU: no text depends on it, and far less comes
// back.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"

#include <cstdint>
#include <string>
#include <vector>

using test::EngineHarness;
using test::ModelPtr;
using test::Reply;
using test::TextRequest;

namespace {

constexpr int32_t kSelected = 128;

engine::EngineOptions selecting(engine::EngineOptions options = test::few_places()) {
    options.context.selected = kSelected;
    return options;
}

engine::EngineOptions in_streams() {
    engine::EngineOptions options = test::few_places();
    options.context.kv_unified = "off";
    options.context.cells = 6 * options.context.context_length;
    return options;
}

engine::EngineOptions drafting() {
    engine::EngineOptions options = test::few_places();
    options.speculation = engine::SpeculationMode::ngram;
    return options;
}

std::vector<std::string> texts_of(EngineHarness& harness, const std::vector<TextRequest>& requests) {
    std::vector<std::string> texts;
    for (const Reply& reply : harness.generate_all(requests)) texts.push_back(reply.text);
    return texts;
}

/// Half of them draw at random.
std::vector<TextRequest> some_random(const ModelPtr& model) {
    std::vector<TextRequest> requests = test::requests(model);
    for (size_t i = 0; i < requests.size(); i += 2) requests[i].temperature = 1;
    return requests;
}

/// The bytes that come back for one request, and its text.
struct Copied {
    std::string text;
    uint64_t bytes;
};

Copied copied_for(const ModelPtr& model, const engine::EngineOptions& options, const TextRequest& request) {
    EngineHarness harness(model, options);
    std::string text = harness.generate(request).text;
    return {.text = std::move(text), .bytes = harness.engine->stats().times.output_bytes};
}

} // namespace

TEST_CASE("engine: every text is the same if outputs select their likeliest tokens, in a pool, in streams "
          "and with drafts") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const std::vector<TextRequest> requests = some_random(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        for (const engine::EngineOptions& options : {test::few_places(), in_streams(), drafting()}) {
            if (model->info().is_recurrent && options.context.kv_unified == "off") continue;
            EngineHarness harness(model, selecting(options));
            CHECK_EQ(texts_of(harness, requests), texts);
            CHECK_EQ(texts_of(harness, requests), texts); // from the prefix cache
        }
    }
}

TEST_CASE("engine: where outputs select their likeliest tokens, whatever way the n-th decode fails once, "
          "every text is whole") {
    CHECK(test::check_failed_decodes(test::tiny_llama(), selecting(), texts_of) > 20);
    CHECK(test::check_failed_decodes(test::tiny_lfm2(), selecting(), texts_of) > 20);
}

TEST_CASE("engine: logits come back only for requests that need all of them, in one batch with others") {
    const ModelPtr model = test::tiny_llama();
    const TextRequest plain{.prompt = test::words(1, 20), .tokens = 10, .uses_cache = false};
    TextRequest reporting = plain;
    reporting.prompt_logprobs = 2;
    const auto row = static_cast<uint64_t>(model->info().vocabulary_size) * sizeof(float);
    const uint64_t selected = kSelected * (sizeof(float) + sizeof(base::Token));
    const Copied all = copied_for(model, test::few_places(), plain);
    const Copied few = copied_for(model, selecting(), plain);
    CHECK_EQ(few.text, all.text);
    CHECK_EQ(all.bytes, 10 * row);
    CHECK_EQ(few.bytes, 10 * selected);

    EngineHarness harness(model, selecting());
    const std::vector<Reply> replies = harness.generate_all({reporting, plain});
    for (const Reply& reply : replies) CHECK_EQ(reply.text, all.text);
    // A row for each token of the one prompt and its reply; the candidates come for both.
    CHECK_EQ(harness.engine->stats().times.output_bytes, 29 * (row + selected) + 10 * selected);
    CHECK_EQ(replies[0].logprobs.size(), size_t{10});
    CHECK_EQ(replies[0].prompt_logprobs.size(), size_t{20});

    EngineHarness judged(model, test::few_places());
    const Reply judge = judged.generate_all({reporting, plain})[0];
    for (size_t i = 0; i < judge.logprobs.size(); ++i)
        CHECK_EQ(replies[0].logprobs[i].chosen.logprob, judge.logprobs[i].chosen.logprob);
}

TEST_CASE("engine: a graph is built for a number of replies, not anew when one of them ends") {
    constexpr int32_t kReplies = 24;
    constexpr uint64_t kSizes = 5; // 16, 8, 4, 2 and 1 replies are left in turn
    engine::EngineOptions options = test::few_places();
    options.context.sequences = kReplies;
    options.context.cells = (kReplies + 2) * options.context.context_length;
    options.context.batch_tokens = options.batch_tokens_busy = kReplies * 5;
    const auto graphs_for = [&](const ModelPtr& model, const engine::EngineOptions& chosen, int32_t apart) {
        std::vector<TextRequest> requests;
        for (int32_t i = 0; i < kReplies; ++i)
            requests.push_back({.prompt = test::words(i, 5), .tokens = 20 + apart * i, .uses_cache = false});
        EngineHarness harness(model, chosen);
        static_cast<void>(harness.generate_all(requests));
        return harness.engine->stats().times.graphs_built;
    };
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        for (const char* unified : {"on", "off"}) {
            if (model->info().is_recurrent && unified == std::string("off")) continue;
            CAPTURE(model->info().architecture);
            CAPTURE(unified);
            options.context.kv_unified = unified;
            const uint64_t together = graphs_for(model, selecting(options), 0);
            CHECK(graphs_for(model, options, 3) >= together + kReplies - 2);
            // And where a state is set to zero, or the cells in view, may differ.
            CHECK(graphs_for(model, selecting(options), 3) <= together + 2 * kSizes);
        }
    }
}

TEST_CASE("engine: replies keep their graph while the prompts of others are computed") {
    constexpr int32_t kRequests = 40;
    engine::EngineOptions options = test::few_places();
    options.context.sequences = 4;
    const auto graphs_for = [&](const ModelPtr& model, const engine::EngineOptions& chosen) {
        std::vector<TextRequest> requests;
        for (int32_t i = 0; i < kRequests; ++i)
            requests.push_back(
                {.prompt = test::words(i, 5), .tokens = 10 + 3 * (i % 5), .uses_cache = false});
        EngineHarness harness(model, chosen);
        static_cast<void>(harness.generate_all(requests));
        return harness.engine->stats().times.graphs_built;
    };
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        CHECK(4 * graphs_for(model, selecting(options)) < 3 * graphs_for(model, options));
    }
}

TEST_CASE(
    "engine: of 64 replies in streams, a step brings back less than 100 kB, and of 1,000 steps fewer than 10 "
    "build a graph") {
    constexpr int32_t kReplies = 64;
    constexpr int32_t kSteps = 250;
    engine::EngineOptions options = selecting(in_streams());
    options.context.context_length = 512;
    options.context.sequences = options.context.batch_tokens = options.batch_tokens_busy = kReplies;
    options.context.cells = (kReplies + 1) * options.context.context_length;
    const auto counted = [&](int32_t tokens) {
        std::vector<TextRequest> requests;
        for (int32_t i = 0; i < kReplies; ++i)
            requests.push_back({.prompt = test::words(i, 1), .tokens = tokens, .uses_cache = false});
        EngineHarness harness(test::tiny_llama(), options);
        static_cast<void>(harness.generate_all(requests));
        return harness.engine->stats().times;
    };
    const engine::StepTimes before = counted(10);
    const engine::StepTimes after = counted(10 + kSteps);
    CHECK((after.graphs_built - before.graphs_built) * 1'000 < 10 * kSteps);
    CHECK((after.output_bytes - before.output_bytes) / kSteps < 100'000);
}

TEST_CASE("engine: the phases of steps are counted, and graphs are used again") {
    const ModelPtr model = test::tiny_llama();
    EngineHarness harness(model);
    static_cast<void>(harness.generate({.prompt = test::words(1, 20), .tokens = 100, .uses_cache = false}));
    const engine::StepTimes times = harness.engine->stats().times;
    CHECK(times.launch_us > 0);
    CHECK(times.graph_us > 0);
    CHECK(times.schedule_us + times.sample_us + times.publish_us > 0);
    CHECK(times.graphs_built >= 2);
    CHECK(times.graphs_built < 20);
}
