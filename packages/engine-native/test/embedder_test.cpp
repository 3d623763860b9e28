// Vectors of texts against llama.cpp's own pooling: whole texts, several in a batch, and texts in parts.
#include "llama/embedding/embedder.h"

#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

using base::Token;
using llama::Embedder;
using llama::Pooling;
using test::ModelPtr;
using Vector = std::vector<float>;

namespace {

/// F16 in the cache, and another order of additions in another batch.
constexpr float kTolerance = 0.01F;

std::unique_ptr<Embedder> embedder_for(const ModelPtr& model, int32_t length = 512,
                                       int32_t batch_tokens = 128) {
    static const std::atomic<bool> is_aborted = false;
    auto made = Embedder::create(model,
                                 {.length = length,
                                  .batch_tokens = batch_tokens,
                                  .threads = 1,
                                  .threads_batch = 1,
                                  .flash_attention = "off"},
                                 llama::make_threadpool(1), is_aborted);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(*made);
}

Vector empty_vector(const ModelPtr& model) {
    return Vector(static_cast<size_t>(model->info().embedding_size));
}

enum llama_pooling_type pooling_in_llama_cpp(Pooling pooling) {
    if (pooling == Pooling::first) return LLAMA_POOLING_TYPE_CLS;
    return pooling == Pooling::last ? LLAMA_POOLING_TYPE_LAST : LLAMA_POOLING_TYPE_MEAN;
}

/// What llama.cpp makes of one text by itself, pooling included.
Vector reference(const ModelPtr& model, const std::vector<Token>& text) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = 512;
    params.n_threads = params.n_threads_batch = 1;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.pooling_type = pooling_in_llama_cpp(*Embedder::pooling_of(*model));
    params.embeddings = true;
    const llama_context_ptr context(llama_init_from_model(model->raw(), params));
    std::vector<Token> tokens = text;
    REQUIRE_EQ(
        llama_decode(context.get(), llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))),
        0);
    const float* vector = llama_get_embeddings_seq(context.get(), 0);
    REQUIRE(vector != nullptr);
    return {vector, vector + model->info().embedding_size};
}

/// The largest difference of two numbers at the same place.
float distance(const Vector& one, const Vector& other) {
    float largest = 0;
    for (size_t i = 0; i < one.size(); ++i) largest = std::max(largest, std::abs(one[i] - other[i]));
    return largest;
}

std::vector<ModelPtr> all_models() {
    return {test::tiny_bert(), test::tiny_model("INGLE_TINY_BERT_FIRST"), test::tiny_llama(),
            test::tiny_model("INGLE_TINY_LLAMA_LAST"), test::tiny_lfm2()};
}

} // namespace

TEST_CASE("embedder: a text has the vector that llama.cpp's own pooling gives it") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        const auto embedder = embedder_for(model);
        for (const int32_t length : {1, 7, 100}) {
            CAPTURE(length);
            const std::vector<Token> text = test::words(length, length);
            Vector vector = empty_vector(model);
            const llama::TextPart part{.text = text, .first = 0, .count = length, .vector = vector};
            REQUIRE(embedder->compute(std::span(&part, 1)) == llama::Decoded::ok);
            const Vector expected = reference(model, text);
            CHECK(distance(vector, expected) < kTolerance);
            CHECK(distance(expected, Vector(expected.size())) > 10 * kTolerance);
        }
    }
}

TEST_CASE("embedder: texts of one batch have the vectors that each has alone") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        const auto embedder = embedder_for(model);
        std::vector<std::vector<Token>> texts;
        std::vector<Vector> vectors;
        std::vector<llama::TextPart> parts;
        for (int32_t i = 0; i < embedder->batch_texts(); ++i) {
            texts.push_back(test::words(i, 2 + i % 6));
            vectors.push_back(empty_vector(model));
        }
        for (size_t i = 0; i < texts.size(); ++i)
            parts.push_back({.text = texts[i],
                             .first = 0,
                             .count = static_cast<int32_t>(texts[i].size()),
                             .vector = vectors[i]});
        REQUIRE(embedder->compute(parts) == llama::Decoded::ok);
        for (size_t i = 0; i < texts.size(); ++i) {
            CAPTURE(i);
            CHECK(distance(vectors[i], reference(model, texts[i])) < kTolerance);
        }
    }
}

TEST_CASE("embedder: a text that a causal model is given in parts has the vector of the whole") {
    for (const ModelPtr& model : all_models()) {
        const auto embedder = embedder_for(model, 512, 24);
        if (!embedder->takes_parts()) continue;
        CAPTURE(model->info().architecture);
        const std::vector<Token> text = test::words(3, 100);
        Vector vector = empty_vector(model);
        for (int32_t first = 0; first < 100;) {
            const int32_t count = std::min(100 - first, 24);
            const llama::TextPart part{.text = text, .first = first, .count = count, .vector = vector};
            REQUIRE(embedder->compute(std::span(&part, 1)) == llama::Decoded::ok);
            first += count;
        }
        CHECK(distance(vector, reference(model, text)) < kTolerance);
    }
}

TEST_CASE("embedder: what was computed before changes no vector") {
    for (const ModelPtr& model : all_models()) {
        CAPTURE(model->info().architecture);
        const auto embedder = embedder_for(model);
        const std::vector<Token> text = test::words(4, 30);
        std::vector<Vector> vectors;
        for (const int32_t length : {30, 5, 30}) {
            vectors.push_back(empty_vector(model));
            const llama::TextPart part{.text = std::span(text).first(static_cast<size_t>(length)),
                                       .first = 0,
                                       .count = length,
                                       .vector = vectors.back()};
            REQUIRE(embedder->compute(std::span(&part, 1)) == llama::Decoded::ok);
        }
        CHECK(distance(vectors[0], vectors[2]) < kTolerance / 1000);
        CHECK(distance(vectors[0], vectors[1]) > kTolerance);
    }
}

TEST_CASE("embedder: its memory is measured without allocating it, on a loaded model as on an outline") {
    const llama::EmbedderOptions options{
        .length = 512, .batch_tokens = 128, .threads = 1, .threads_batch = 1, .flash_attention = "off"};
    for (const ModelPtr& model : {test::tiny_bert(), test::tiny_llama(), test::tiny_lfm2()}) {
        CAPTURE(model->info().architecture);
        const auto outline =
            llama::Model::outline({.path = model->path(), .gpu_layers = 0, .mmap = true, .mlock = false});
        REQUIRE(outline);
        const auto planned = Embedder::measure(**outline, options);
        const auto measured = Embedder::measure(*model, options);
        REQUIRE((planned && measured));
        REQUIRE((planned->size() == 1 && measured->size() == 1));
        CHECK(planned->front().context == measured->front().context);
        CHECK(planned->front().compute == measured->front().compute);
        CHECK(measured->front().weights == 0);
        CHECK((measured->front().context > 0) == model->info().is_causal);
        CHECK(measured->front().compute > 0);
        // The next context is a real one.
        const auto embedder = embedder_for(model);
        const std::vector<Token> text = test::words(1, 9);
        Vector vector = empty_vector(model);
        const llama::TextPart part{.text = text, .first = 0, .count = 9, .vector = vector};
        CHECK(embedder->compute(std::span(&part, 1)) == llama::Decoded::ok);
    }
}

TEST_CASE("embedder: a reranker gives no embeddings") {
    const auto pooling = Embedder::pooling_of(*test::tiny_model("INGLE_TINY_LLAMA_RANK"));
    REQUIRE_FALSE(pooling.has_value());
    CHECK(pooling.error().code == base::Code::embeddings_not_supported);
}
