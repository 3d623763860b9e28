// Embeddings in the engine on tiny models: beside replies and each other, with faults, cancelled, and when it stops.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_faults.h"
#include "short_memory.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

using base::Code;
using base::RequestId;
using base::Token;
using test::EngineHarness;
using test::Fault;
using test::ModelPtr;
using test::Reply;
using Texts = std::vector<std::vector<Token>>;

namespace {

constexpr float kVectorTolerance = 0.01F;
/// A token that is in no other text.
constexpr Token kBad = 1999;

/// `count` texts, shorter and longer than a batch of few_places().
Texts texts(int32_t number, int32_t count) {
    Texts all;
    for (int32_t i = 0; i < count; ++i)
        all.push_back(test::words(100 * number + i, 1 + (7 * i + number) % 40));
    return all;
}

/// Whether each vector is the one that its text has alone.
bool are_alone(EngineHarness& harness, const Texts& texts, const std::vector<float>& vectors) {
    const size_t size = vectors.size() / texts.size();
    for (size_t i = 0; i < texts.size(); ++i) {
        const std::vector<float> alone = harness.wait(harness.embed({texts[i]})).vectors;
        if (alone.size() != size) return false;
        for (size_t at = 0; at < size; ++at)
            if (std::abs(alone[at] - vectors[i * size + at]) > kVectorTolerance) return false;
    }
    return true;
}

std::vector<ModelPtr> models_of_each_kind() {
    return {test::tiny_bert(), test::tiny_llama(), test::tiny_lfm2()};
}

} // namespace

TEST_CASE("embeddings: eight requests at once get the vectors that each text has alone") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 8; ++i) ids.push_back(harness.embed(texts(i, 1 + 3 * i)));
        for (int32_t i = 0; i < 8; ++i) {
            const Reply reply = harness.wait(ids[static_cast<size_t>(i)]);
            REQUIRE(reply.is_whole());
            CHECK(are_alone(harness, texts(i, 1 + 3 * i), reply.vectors));
        }
    }
}

TEST_CASE("embeddings: a small request does not wait for all of a large one") {
    EngineHarness harness(test::tiny_llama());
    const RequestId large = harness.embed(texts(1, 400));
    const RequestId small = harness.embed(texts(2, 1));
    CHECK(harness.wait(small).place < harness.wait(large).place);
}

TEST_CASE("embeddings: a reply goes on beside them, and its text is the one that it has alone") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const test::TextRequest request{.prompt = test::words(9, 20), .tokens = 30};
        EngineHarness alone(model);
        const std::string text = alone.generate(request).text;
        EngineHarness harness(model);
        const RequestId embeddings = harness.embed(texts(1, 300));
        const Reply reply = harness.generate(request);
        CHECK_EQ(reply.text, text);
        CHECK(reply.place < harness.wait(embeddings).place);
        CHECK(harness.wait(embeddings).is_whole());
    }
}

TEST_CASE("embeddings: a cancelled request ends at once, running or waiting, and changes no other") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 6; ++i) ids.push_back(harness.embed(texts(i, 60)));
        harness.engine->cancel(ids[0]);
        harness.engine->cancel(ids[2]);
        harness.engine->cancel(ids[5]);
        harness.engine->cancel(ids[5]);
        int32_t cancelled = 0;
        for (const RequestId id : ids)
            cancelled += harness.wait(id).reason == engine::FinishReason::cancelled ? 1 : 0;
        CHECK(cancelled == 3);
        CHECK(are_alone(harness, texts(1, 60), harness.wait(ids[1]).vectors));
        CHECK(harness.engine->stats().running == 0);
        CHECK(harness.engine->stats().waiting == 0);
    }
}

TEST_CASE(
    "embeddings: a long text can be cancelled between its parts, and the next one begins at its start") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        std::atomic<RequestId> leaving = 0;
        int32_t parts = 0;
        const auto cancel_at_first = [&](const llama_batch&) {
            parts += 1;
            while (leaving == 0) std::this_thread::yield();
            harness.engine->cancel(leaving);
            return Fault::none;
        };
        {
            const test::WithFaults with({.decode = cancel_at_first});
            leaving = harness.embed({test::words(1, 120)});
            CHECK(harness.wait(leaving).reason == engine::FinishReason::cancelled);
        }
        CHECK(parts == 1);
        const Texts next{test::words(2, 100), test::words(3, 5)};
        CHECK(are_alone(harness, next, harness.wait(harness.embed(next)).vectors));
    }
}

TEST_CASE("embeddings: a batch that fails once fails no request") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        // Short texts, so that a batch has texts of both requests.
        const Texts few{test::words(1, 3), test::words(2, 4), test::words(3, 2)};
        for (const Fault fault :
             {Fault::refused, Fault::no_memory_thrown, Fault::broken_midway, Fault::late}) {
            EngineHarness harness(model);
            for (int failing = 1;; ++failing) {
                CAPTURE(failing);
                int count = 0;
                bool has_failed = false;
                const auto fail_one = [&](const llama_batch& batch) {
                    const bool is_together = *batch.seq_id[0] != *batch.seq_id[batch.n_tokens - 1];
                    has_failed |= is_together && ++count == failing;
                    return is_together && count == failing ? fault : Fault::none;
                };
                const test::WithFaults with({.decode = fail_one});
                const RequestId one = harness.embed(few);
                const RequestId other = harness.embed(few);
                CHECK(are_alone(harness, few, harness.wait(one).vectors));
                CHECK(are_alone(harness, few, harness.wait(other).vectors));
                if (!has_failed) break;
            }
        }
    }
}

TEST_CASE("embeddings: a text that cannot be computed fails its request, and no other") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        const auto fail_bad = [](const llama_batch& batch) {
            return std::find(batch.token, batch.token + batch.n_tokens, kBad) == batch.token + batch.n_tokens
                       ? Fault::none
                       : Fault::no_memory;
        };
        const Texts good{test::words(1, 3), test::words(2, 4)};
        std::vector<float> vectors;
        {
            const test::WithFaults with({.decode = fail_bad});
            const RequestId one = harness.embed({test::words(3, 2), {kBad}, test::words(4, 2)});
            const RequestId other = harness.embed(good);
            CHECK(harness.wait(one).error == Code::out_of_memory);
            vectors = harness.wait(other).vectors;
        }
        CHECK(are_alone(harness, good, vectors));
        CHECK(harness.wait(harness.embed({{kBad}})).is_whole());
    }
}

TEST_CASE("embeddings: running out of memory for vectors fails only that request") {
    EngineHarness harness(test::tiny_llama());
    const Texts few = texts(1, 3);
    CHECK(harness.wait(harness.embed(few)).is_whole()); // makes the context
    const Texts many(2048, {5});
    const size_t bytes = many.size() * harness.wait(harness.embed({{5}})).vectors.size() * sizeof(float);
    {
        const test::ShortMemory is_short(bytes - 1);
        const RequestId large = harness.embed(many);
        const RequestId small = harness.embed(few);
        CHECK(harness.wait(large).error == Code::out_of_memory);
        CHECK(harness.wait(small).is_whole());
    }
    CHECK(harness.wait(harness.embed(many)).is_whole());
    CHECK(harness.engine->stats().running == 0);
}

TEST_CASE("embeddings: a text that is too long for the memory fails before any is allocated, and later "
          "ones do not") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        const test::TextRequest request{.prompt = test::words(1, 6), .tokens = 3};
        {
            const test::WithFaults with({.memory_left = 1000});
            CHECK(harness.wait(harness.embed(texts(1, 2))).error == Code::out_of_memory);
            if (model->info().is_causal) CHECK(harness.generate(request).is_whole());
        }
        CHECK(harness.wait(harness.embed(texts(1, 2))).is_whole());
    }
}

TEST_CASE("embeddings: their memory is planned if a model is loaded for them") {
    const llama::ContextOptions options = test::few_places().context;
    const auto is_planned = [&](const ModelPtr& model) {
        const auto planned = engine::planned_embedding_memory(*model, options);
        REQUIRE(planned);
        return !planned->empty();
    };
    CHECK(is_planned(test::tiny_bert()));
    CHECK(is_planned(test::tiny_model("INGLE_TINY_LLAMA_LAST")));
    CHECK(!is_planned(test::tiny_llama()));
    CHECK(!is_planned(test::tiny_model("INGLE_TINY_LLAMA_RANK")));
}

TEST_CASE("embeddings: their context takes no more than the limits allow, and says what it takes") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        const engine::EngineOptions options = test::few_places();
        const int32_t length = engine::embedding_length_max(*model, options.context);
        const auto needed =
            engine::embedding_memory_within({}, *model, engine::embedder_options(options.context, length));
        REQUIRE(needed);
        REQUIRE(needed->size() == 1);
        const auto [device, bytes] = needed->front();
        CHECK(device.empty());
        const engine::MemoryLimits enough{.memories = {{.device = "", .bytes = bytes}}, .total_bytes = bytes};
        const engine::MemoryLimits too_little{.memories = {{.device = "", .bytes = bytes - 1}}};
        for (const auto& limits : {too_little, engine::MemoryLimits{.total_bytes = bytes - 1}}) {
            const test::Reply refused = harness.wait(harness.embed(texts(1, 2), limits));
            CHECK(refused.error == Code::out_of_memory);
            CHECK(refused.needed_bytes == bytes);
        }
        CHECK(harness.engine->stats().embedding_memory.empty());
        CHECK(harness.generate({.prompt = test::words(1, 6), .tokens = 3}).is_whole());
        CHECK(harness.wait(harness.embed(texts(1, 2), enough)).is_whole());
        REQUIRE(harness.engine->stats().embedding_memory.size() == 1);
        CHECK(harness.engine->stats().embedding_memory.front().bytes == bytes);
        // It is there, so that nothing has to be made.
        CHECK(harness.wait(harness.embed(texts(2, 2), too_little)).is_whole());
    }
}

TEST_CASE("embeddings: limits are for what was not planned") {
    EngineHarness harness(test::tiny_bert());
    CHECK(harness.wait(harness.embed(texts(1, 2), {.total_bytes = 1})).is_whole());
    CHECK(harness.engine->stats().embedding_memory.empty());
}

TEST_CASE("embeddings: stopping the engine ends running and waiting requests") {
    for (const ModelPtr& model : models_of_each_kind()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 6; ++i) ids.push_back(harness.embed(texts(i, 500)));
        harness.engine->stop();
        for (const RequestId id : ids) CHECK(harness.wait(id).error == Code::disposed);
        CHECK(harness.engine->embed(texts(1, 1)).error().code == Code::disposed);
    }
}

TEST_CASE("embeddings: requests that cannot be computed are refused, with the numbers") {
    EngineHarness harness(test::tiny_llama());
    CHECK(harness.engine->embed({}).error().code == Code::invalid_argument);
    CHECK(harness.engine->embed({{}}).error().code == Code::invalid_argument);
    CHECK(harness.engine->embed({{-1}}).error().code == Code::invalid_argument);
    CHECK(harness.engine->embed(Texts(2049, {5})).error().code == Code::invalid_argument);
    CHECK(harness.wait(harness.embed({test::words(1, 128)})).is_whole());
    const auto refused = harness.engine->embed({{5}, test::words(1, 129)});
    REQUIRE(refused.error().code == Code::context_length_exceeded);
    CHECK(refused.error().lengths->prompt_tokens == 129);
    CHECK(refused.error().lengths->context_length == 128);
}

TEST_CASE("embeddings: they count as waiting requests, and one too many is overloaded") {
    engine::EngineOptions options = test::few_places();
    options.waiting_max = 1;
    EngineHarness harness(test::tiny_bert(), options);
    std::vector<RequestId> ids;
    for (int32_t i = 0; i < 4; ++i) ids.push_back(harness.embed(texts(i, 500)));
    const auto refused = harness.engine->embed(texts(1, 1));
    CHECK(refused.error().code == Code::overloaded);
    for (const RequestId id : ids) CHECK(harness.wait(id).is_whole());
    CHECK(harness.wait(harness.embed(texts(1, 1))).is_whole());
}

TEST_CASE("embeddings: a text that is longer than all before gets a larger context") {
    engine::EngineOptions options = test::few_places();
    options.context.context_length = options.context.cells = 2048;
    EngineHarness harness(test::tiny_llama(), options);
    CHECK(harness.wait(harness.embed({test::words(1, 10)})).is_whole());
    CHECK(harness.wait(harness.embed({test::words(1, 2000), test::words(2, 10)})).is_whole());
    CHECK(harness.wait(harness.embed({test::words(1, 700)})).is_whole());
}

TEST_CASE("embeddings: an encoder refuses to generate, and a reranker refuses to embed") {
    EngineHarness encoder(test::tiny_bert());
    const auto generated = encoder.engine->submit({.client = "",
                                                   .prompt = {5},
                                                   .sampling = {},
                                                   .tokens_max = 1,
                                                   .stops = {},
                                                   .ignore_eos = false,
                                                   .uses_cache = true});
    CHECK(generated.error().code == Code::generation_not_supported);
    EngineHarness reranker(test::tiny_model("INGLE_TINY_LLAMA_RANK"));
    CHECK(reranker.engine->embed({{5}}).error().code == Code::embeddings_not_supported);
    CHECK(reranker.generate({.prompt = test::words(1, 5), .tokens = 3}).is_whole());
}
