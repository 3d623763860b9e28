// The engine with a draft model, here the model itself, or with layers that draft, while llama.cpp fails: drafts change no text. For a
// hybrid model, whose recurrent state is rolled back, another model drafts. The listener asserts after each step that scheduler and context agree
// (Engine::check_integrity).
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"

#include <string>
#include <vector>

using test::Call;
using test::EngineHarness;
using test::Fault;
using test::Reply;
using test::TextRequest;

namespace {

engine::EngineOptions with_draft_model() {
    engine::EngineOptions options = test::few_places();
    options.speculation = engine::SpeculationMode::draft_model;
    options.draft_model = test::tiny_llama();
    options.draft_tokens = 4;
    return options;
}

engine::EngineOptions with_mtp() {
    engine::EngineOptions options = test::few_places();
    options.context.mtp = "on";
    return options;
}

engine::EngineOptions with_speculator(const std::string& variable) {
    engine::EngineOptions options = with_draft_model();
    options.draft_model = test::tiny_model(variable);
    options.draft_tokens = 0;
    return options;
}

/// Memoryless models, and speculators that draft what these generate.
const std::vector<std::string> kMemoryless{"INGLE_TINY_LLAMA_MEMORYLESS", "INGLE_TINY_LFM2_MEMORYLESS"};
const std::vector<std::string> kRight{"INGLE_TINY_EAGLE3_RIGHT", "INGLE_TINY_DSPARK_RIGHT"};

/// One after the other, because a draft model is asked only while one sequence decodes.
std::vector<std::string> texts_of(EngineHarness& harness, const std::vector<TextRequest>& requests) {
    std::vector<std::string> texts;
    for (const TextRequest& request : requests) texts.push_back(harness.generate(request).text);
    return texts;
}

/// Drafts are accepted and change no text, of requests one after the other and together. The counters after the former.
engine::Stats check_drafts(const test::ModelPtr& model, const engine::EngineOptions& options) {
    CAPTURE(model->info().architecture);
    const std::vector<TextRequest> requests = test::requests(model);
    const std::vector<std::string> texts = test::texts_alone(model, requests);
    EngineHarness harness(model, options);
    CHECK_EQ(texts_of(harness, requests), texts);
    const engine::Stats stats = harness.engine->stats();
    CHECK(stats.drafted_tokens > 0);
    CHECK(stats.accepted_tokens > 0);
    const std::vector<Reply> together = harness.generate_all(requests);
    for (size_t i = 0; i < together.size(); ++i) CHECK_EQ(together[i].text, texts[i]);
    return stats;
}

} // namespace

TEST_CASE("engine: a draft model's drafts are accepted, and change no text") {
    const engine::Stats stats = check_drafts(test::tiny_llama(), with_draft_model());
    CHECK(stats.accepted_tokens > stats.drafted_tokens / 2);
}

TEST_CASE(
    "engine: whatever way the n-th decode fails once, a model's or its draft model's, every text is whole") {
    CHECK(test::check_failed_decodes(test::tiny_llama(), with_draft_model(), texts_of) > 20);
    CHECK(test::check_failed_decodes(test::tiny_lfm2(), with_draft_model(), texts_of) > 20);
}

TEST_CASE("engine: layers for multi-token prediction draft for all sequences together, and change no text") {
    for (const test::ModelPtr& model : {test::tiny_glm4moe(), test::tiny_qwen35()}) {
        CHECK_EQ(model->info().mtp_layers, 1);
        check_drafts(model, with_mtp());
    }
}

TEST_CASE("engine: speculators draft for all sequences together, and change no text") {
    for (const std::string& target : kMemoryless) {
        for (const std::string& speculator : kRight) {
            CAPTURE(speculator);
            const engine::Stats stats = check_drafts(test::tiny_model(target), with_speculator(speculator));
            CHECK(stats.accepted_tokens > stats.drafted_tokens / 2);
        }
    }
}

TEST_CASE(
    "engine: whatever way the n-th decode fails once, a model's or its speculator's, every text is whole") {
    for (const std::string& target : kMemoryless) {
        for (const std::string& speculator : kRight)
            CHECK(test::check_failed_decodes(test::tiny_model(target), with_speculator(speculator),
                                             texts_of) > 20);
    }
}

TEST_CASE("engine: whatever way the n-th decode fails once, a model's or its drafting layers', every text is "
          "whole") {
    CHECK(test::check_failed_decodes(test::tiny_glm4moe(), with_mtp(), texts_of) > 20);
    CHECK(test::check_failed_decodes(test::tiny_qwen35(), with_mtp(), texts_of) > 20);
}

TEST_CASE(
    "engine: when rejected drafts cannot be trimmed, everything is computed again and every text is whole") {
    for (const test::ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        const std::vector<TextRequest> requests = test::requests(model);
        const std::vector<std::string> texts = test::texts_alone(model, requests);
        int removals = 0;
        for (int n = 1; n == 1 || removals >= n; ++n) {
            CAPTURE(model->info().architecture);
            CAPTURE(n);
            EngineHarness harness(model, with_draft_model());
            removals = 0;
            const auto fail_once = [&](const Call& call) {
                return call.kind == Call::Kind::remove && ++removals == n;
            };
            const test::WithFaults with({.other = fail_once});
            CHECK_EQ(texts_of(harness, requests), texts);
            CHECK_EQ(test::faults().misplaced, 0);
        }
    }
}
