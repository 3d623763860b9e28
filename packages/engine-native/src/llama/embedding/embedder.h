// Computes embeddings of texts: a separate llama_context in which every token has an output, and the pooling of these into one
// vector per text. An encoder needs a whole text at once; a causal model can take it in parts. Single-threaded.
//
// A reranker's texts are pairs of a query and a document: the vector of one is its score, which llama.cpp's classifier computes.
//
// All other pooling is done here and not by llama.cpp, so that a causal model can take a text in parts. That bounds the memory
// for the logits, which llama.cpp also computes for every token, to those of one part.
#pragma once

#include "base/result.h"
#include "base/threads.h"
#include "base/types.h"
#include "llama/backend/backend.h"
#include "llama/context/context.h"
#include "llama/context/measure.h"
#include "llama/model/model.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "llama-cpp.h"

namespace llama {

struct EmbedderOptions {
    /// Maximum number of tokens per text.
    int32_t length;
    /// Maximum number of tokens per batch, if the model can take a text in parts.
    int32_t batch_tokens;
    int32_t threads;
    int32_t threads_batch;
    /// "auto", "on" or "off".
    std::string flash_attention;
    bool offloads_kv = true;
    RopeOptions rope = {};
};

/// `count` tokens of one text, from index `first` on, and the vector to add them to.
struct TextPart {
    std::span<const base::Token> text;
    int32_t first;
    int32_t count;
    std::span<float> vector;
};

class Embedder {
public:
    /// Maximum number of tokens per text, for any model: an encoder's memory grows with the square of the length.
    static constexpr int32_t kLengthMax = 8192;

    /// Whether the model is an embedding model: its file specifies a pooling, or it cannot generate.
    static bool is_made_for(const Model& model) {
        return !model.info().is_causal || model.info().pooling != Pooling::none;
    }

    /// How this model's token embeddings are pooled: mean, first or last, or rank for the scores of a reranker.
    /// `embeddings_not_supported` if it supports neither.
    static base::Result<Pooling> pooling_of(const Model& model);

    /// The number of values per text: for a reranker, one score.
    static int32_t vector_size(const Model& model);

    /// The memory that an Embedder with these options takes, by device. Fails as measure() does, and may be called where that may.
    static base::Result<std::vector<MemoryUse>> measure(const Model& model, const EmbedderOptions& options);

    /// Setting `is_aborted`, on any thread, makes every batch end soon. `out_of_memory`, `embeddings_not_supported`,
    /// `model_invalid`, `engine_failed`.
    static base::Result<std::unique_ptr<Embedder>> create(std::shared_ptr<const Model> model,
                                                          const EmbedderOptions& options,
                                                          ThreadpoolPtr threadpool,
                                                          const std::atomic<bool>& is_aborted);
    ~Embedder();
    Embedder(const Embedder&) = delete;
    Embedder& operator=(const Embedder&) = delete;

    int32_t length_max() const { return length_max_; }
    /// Maximum number of tokens, and of texts, per batch.
    int32_t batch_tokens() const { return batch_tokens_; }
    int32_t batch_texts() const { return batch_texts_; }
    /// Whether a text can be given in parts, in consecutive batches with no other text; if not, it must be in one batch.
    bool takes_parts() const { return takes_parts_; }

    /// Computes the parts in one batch. Either every part is the start of a text, or the only part continues the last batch's
    /// text.
    Decoded compute(std::span<const TextPart> parts);

private:
    Embedder(std::shared_ptr<const Model> model, const EmbedderOptions& options, Pooling pooling,
             bool takes_parts, ThreadpoolPtr threadpool, const std::atomic<bool>& is_aborted);
    void fill(std::span<const TextPart> parts);
    bool pool(std::span<const TextPart> parts);
    bool score(std::span<const TextPart> parts);

    base::ThreadChecker thread_;
    const std::atomic<bool>& is_aborted_;
    const std::shared_ptr<const Model> model_;
    const Pooling pooling_;
    const bool takes_parts_;
    const int32_t length_max_;
    const int32_t batch_tokens_;
    const int32_t batch_texts_;

    // Destroyed in reverse: the context goes before the thread pool that it uses.
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    llama_batch batch_{};
};

} // namespace llama
