// Embeddings in the engine on tiny models: beside replies and each other, with faults, cancelled, and at its end.
#include "check.h"
#include "engine_house.h"
#include "engine_questions.h"
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
using test::Answer;
using test::EngineHouse;
using test::Fault;
using test::ModelPtr;
using Texts = std::vector<std::vector<Token>>;

namespace {

constexpr float kTolerance = 0.01F;
/// In no other text.
constexpr Token kBad = 1999;

/// `count` texts, shorter and longer than a batch of few_places().
Texts texts(int32_t number, int32_t count) {
    Texts all;
    for (int32_t i = 0; i < count; ++i)
        all.push_back(test::words(100 * number + i, 1 + (7 * i + number) % 40));
    return all;
}

/// Whether each vector is what its text gives alone.
bool are_alone(EngineHouse& house, const Texts& texts, const std::vector<float>& vectors) {
    const size_t size = vectors.size() / texts.size();
    for (size_t i = 0; i < texts.size(); ++i) {
        const std::vector<float> alone = house.wait(house.embed({texts[i]})).vectors;
        if (alone.size() != size) return false;
        for (size_t at = 0; at < size; ++at)
            if (std::abs(alone[at] - vectors[i * size + at]) > kTolerance) return false;
    }
    return true;
}

std::vector<ModelPtr> all_models() {
    return {test::tiny_bert(), test::tiny_llama(), test::tiny_lfm2()};
}

} // namespace

TEST_CASE("embeddings: eight requests at once get the vectors that each text has alone") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 8; ++i) ids.push_back(house.embed(texts(i, 1 + 3 * i)));
        for (int32_t i = 0; i < 8; ++i) {
            const Answer answer = house.wait(ids[static_cast<size_t>(i)]);
            REQUIRE(answer.is_whole());
            CHECK(are_alone(house, texts(i, 1 + 3 * i), answer.vectors));
        }
    }
}

TEST_CASE("embeddings: a small request does not wait for all of a large one") {
    EngineHouse house(test::tiny_llama());
    const RequestId large = house.embed(texts(1, 400));
    const RequestId small = house.embed(texts(2, 1));
    CHECK(house.wait(small).place < house.wait(large).place);
}

TEST_CASE("embeddings: a reply goes on beside them, and its text is the one that it has alone") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const test::Question question{.prompt = test::words(9, 20), .tokens = 30};
        EngineHouse alone(model);
        const std::string text = alone.ask(question).text;
        EngineHouse house(model);
        const RequestId embeddings = house.embed(texts(1, 300));
        const Answer answer = house.ask(question);
        CHECK_EQ(answer.text, text);
        CHECK(answer.place < house.wait(embeddings).place);
        CHECK(house.wait(embeddings).is_whole());
    }
}

TEST_CASE("embeddings: what is cancelled ends at once, begun or in line, and the others do not notice") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 6; ++i) ids.push_back(house.embed(texts(i, 60)));
        house.engine->cancel(ids[0]);
        house.engine->cancel(ids[2]);
        house.engine->cancel(ids[5]);
        house.engine->cancel(ids[5]);
        int32_t cancelled = 0;
        for (const RequestId id : ids)
            cancelled += house.wait(id).reason == engine::FinishReason::cancelled ? 1 : 0;
        CHECK(cancelled == 3);
        CHECK(are_alone(house, texts(1, 60), house.wait(ids[1]).vectors));
        CHECK(house.engine->stats().running == 0);
        CHECK(house.engine->stats().waiting == 0);
    }
}

TEST_CASE("embeddings: a long text can be cancelled between its parts, and the next one begins anew") {
    for (const ModelPtr& model : {test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        std::atomic<RequestId> leaving = 0;
        int32_t parts = 0;
        const auto cancel_at_first = [&](const llama_batch&) {
            parts += 1;
            while (leaving == 0) std::this_thread::yield();
            house.engine->cancel(leaving);
            return Fault::none;
        };
        {
            const test::WithFaults with({.decode = cancel_at_first});
            leaving = house.embed({test::words(1, 120)});
            CHECK(house.wait(leaving).reason == engine::FinishReason::cancelled);
        }
        CHECK(parts == 1);
        const Texts next{test::words(2, 100), test::words(3, 5)};
        CHECK(are_alone(house, next, house.wait(house.embed(next)).vectors));
    }
}

TEST_CASE("embeddings: a batch that fails once costs nobody anything, whichever it is") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        // Short ones: some of each batch are others'.
        const Texts few{test::words(1, 3), test::words(2, 4), test::words(3, 2)};
        for (const Fault fault :
             {Fault::refused, Fault::no_memory_thrown, Fault::broken_midway, Fault::late}) {
            EngineHouse house(model);
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
                const RequestId one = house.embed(few);
                const RequestId other = house.embed(few);
                CHECK(are_alone(house, few, house.wait(one).vectors));
                CHECK(are_alone(house, few, house.wait(other).vectors));
                if (!has_failed) break;
            }
        }
    }
}

TEST_CASE("embeddings: a text that cannot be computed fails its request, and no other") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        const auto fail_bad = [](const llama_batch& batch) {
            return std::find(batch.token, batch.token + batch.n_tokens, kBad) == batch.token + batch.n_tokens
                       ? Fault::none
                       : Fault::no_memory;
        };
        const Texts good{test::words(1, 3), test::words(2, 4)};
        std::vector<float> vectors;
        {
            const test::WithFaults with({.decode = fail_bad});
            const RequestId one = house.embed({test::words(3, 2), {kBad}, test::words(4, 2)});
            const RequestId other = house.embed(good);
            CHECK(house.wait(one).error == Code::out_of_memory);
            vectors = house.wait(other).vectors;
        }
        CHECK(are_alone(house, good, vectors));
        CHECK(house.wait(house.embed({{kBad}})).is_whole());
    }
}

TEST_CASE("embeddings: a request whose vectors there is no memory for fails, and no other") {
    EngineHouse house(test::tiny_llama());
    const Texts few = texts(1, 3);
    CHECK(house.wait(house.embed(few)).is_whole()); // its context is made
    const Texts many(2048, {5});
    const size_t bytes = many.size() * house.wait(house.embed({{5}})).vectors.size() * sizeof(float);
    {
        const test::ShortMemory is_short(bytes - 1);
        const RequestId large = house.embed(many);
        const RequestId small = house.embed(few);
        CHECK(house.wait(large).error == Code::out_of_memory);
        CHECK(house.wait(small).is_whole());
    }
    CHECK(house.wait(house.embed(many)).is_whole());
    CHECK(house.engine->stats().running == 0);
}

TEST_CASE("embeddings: a longer text than there is memory for fails, before any of it is taken, and later "
          "ones do not") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        const test::Question question{.prompt = test::words(1, 6), .tokens = 3};
        {
            const test::WithFaults with({.memory_left = 1'000'000});
            CHECK(house.wait(house.embed(texts(1, 2))).error == Code::out_of_memory);
            if (model->info().is_causal) CHECK(house.ask(question).is_whole());
        }
        CHECK(house.wait(house.embed(texts(1, 2))).is_whole());
    }
}

TEST_CASE("embeddings: what they take is planned where a model is loaded for them") {
    const llama_rt::ContextOptions options = test::few_places().context;
    CHECK(engine::planned_embedding_bytes(*test::tiny_bert(), options) > 0);
    CHECK(engine::planned_embedding_bytes(*test::tiny_model("INGLE_TINY_LLAMA_LAST"), options) > 0);
    CHECK_EQ(engine::planned_embedding_bytes(*test::tiny_llama(), options), 0);
    CHECK_EQ(engine::planned_embedding_bytes(*test::tiny_model("INGLE_TINY_LLAMA_RANK"), options), 0);
}

TEST_CASE("embeddings: the engine's end ends those that run and those in line") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        EngineHouse house(model);
        std::vector<RequestId> ids;
        for (int32_t i = 0; i < 6; ++i) ids.push_back(house.embed(texts(i, 500)));
        house.engine->stop();
        for (const RequestId id : ids) CHECK(house.wait(id).error == Code::disposed);
        CHECK(house.engine->embed(texts(1, 1)).error().code == Code::disposed);
    }
}

TEST_CASE("embeddings: what cannot be computed is refused, with the numbers") {
    EngineHouse house(test::tiny_llama());
    CHECK(house.engine->embed({}).error().code == Code::invalid_argument);
    CHECK(house.engine->embed({{}}).error().code == Code::invalid_argument);
    CHECK(house.engine->embed({{-1}}).error().code == Code::invalid_argument);
    CHECK(house.engine->embed(Texts(2049, {5})).error().code == Code::invalid_argument);
    CHECK(house.wait(house.embed({test::words(1, 128)})).is_whole());
    const auto refused = house.engine->embed({{5}, test::words(1, 129)});
    REQUIRE(refused.error().code == Code::context_length_exceeded);
    CHECK(refused.error().lengths->prompt_tokens == 129);
    CHECK(refused.error().lengths->context_length == 128);
}

TEST_CASE("embeddings: they count in the line, and one more than fits is overloaded") {
    engine::EngineOptions options = test::few_places();
    options.waiting_max = 1;
    EngineHouse house(test::tiny_bert(), options);
    std::vector<RequestId> ids;
    for (int32_t i = 0; i < 4; ++i) ids.push_back(house.embed(texts(i, 500)));
    const auto refused = house.engine->embed(texts(1, 1));
    CHECK(refused.error().code == Code::overloaded);
    for (const RequestId id : ids) CHECK(house.wait(id).is_whole());
    CHECK(house.wait(house.embed(texts(1, 1))).is_whole());
}

TEST_CASE("embeddings: a longer text than any before it gets the room that it needs") {
    engine::EngineOptions options = test::few_places();
    options.context.context_length = options.context.cells = 2048;
    EngineHouse house(test::tiny_llama(), options);
    CHECK(house.wait(house.embed({test::words(1, 10)})).is_whole());
    CHECK(house.wait(house.embed({test::words(1, 2000), test::words(2, 10)})).is_whole());
    CHECK(house.wait(house.embed({test::words(1, 700)})).is_whole());
}

TEST_CASE("embeddings: an encoder generates nothing, and a reranker embeds nothing, and both say so") {
    EngineHouse encoder(test::tiny_bert());
    const auto generated = encoder.engine->submit({.client = "",
                                                   .prompt = {5},
                                                   .sampling = {},
                                                   .tokens_max = 1,
                                                   .stops = {},
                                                   .ignore_eos = false,
                                                   .uses_cache = true});
    CHECK(generated.error().code == Code::generation_not_supported);
    EngineHouse reranker(test::tiny_model("INGLE_TINY_LLAMA_RANK"));
    CHECK(reranker.engine->embed({{5}}).error().code == Code::embeddings_not_supported);
    CHECK(reranker.ask({.prompt = test::words(1, 5), .tokens = 3}).is_whole());
}
