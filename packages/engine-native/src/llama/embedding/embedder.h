// Vectors of texts: a llama_context of its own, in which every token has an output, and the pooling of these into one
// vector a text. An encoder sees a whole text at once; a causal model may be given one in parts. One thread uses it.
//
// Pooling is done here and not by llama.cpp: so a causal model may be given a text in parts, and no more of its logits,
// which llama.cpp computes along for every token, need memory at a time than those of one part.
#pragma once

#include "base/result.h"
#include "base/thread_checker.h"
#include "base/types.h"
#include "llama/backend/handles.h"
#include "llama/context/context.h"
#include "llama/model/model.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace llama_rt {

struct EmbedderOptions {
    /// Tokens of the longest text that it is to take.
    int32_t length;
    /// Most tokens of one batch, where the model can be given a text in parts.
    int32_t batch_tokens;
    int32_t threads;
    int32_t threads_batch;
    /// "auto", "on" or "off".
    std::string flash_attention;
};

/// Some tokens of one text, from `first` on, and the vector that they are to be added to.
struct TextPart {
    std::span<const base::Token> text;
    int32_t first;
    int32_t count;
    std::span<float> vector;
};

class Embedder {
public:
    /// Tokens of the longest text of any model: what an encoder needs for one grows with the square of its length.
    static constexpr int32_t kLengthMax = 8192;

    /// How this model's vectors are pooled: mean, first or last. `embeddings_not_supported` when it has none.
    static base::Result<Pooling> pooling_of(const Model& model);

    /// `is_aborted` ends every batch soon when it is set, from whatever thread. `out_of_memory`,
    /// `embeddings_not_supported`, `engine_failed`.
    static base::Result<std::unique_ptr<Embedder>> create(std::shared_ptr<const Model> model,
                                                          const EmbedderOptions& options,
                                                          ThreadpoolPtr threadpool,
                                                          const std::atomic<bool>& is_aborted);
    ~Embedder();
    Embedder(const Embedder&) = delete;
    Embedder& operator=(const Embedder&) = delete;

    int32_t length_max() const { return length_max_; }
    /// Most tokens and most texts of one batch.
    int32_t batch_tokens() const { return batch_tokens_; }
    int32_t batch_texts() const { return batch_texts_; }
    /// A text may be given in parts, alone, one after the other; else all of it must be in one batch.
    bool takes_parts() const { return takes_parts_; }

    /// Computes the parts in one batch. Either each of them begins a text, or one goes on where the last batch left off.
    Decoded compute(std::span<const TextPart> parts);

private:
    Embedder(std::shared_ptr<const Model> model, const EmbedderOptions& options, Pooling pooling,
             bool takes_parts, ThreadpoolPtr threadpool, const std::atomic<bool>& is_aborted);
    void fill(std::span<const TextPart> parts);
    bool pool(std::span<const TextPart> parts);

    base::ThreadChecker thread_;
    const std::atomic<bool>& is_aborted_;
    const std::shared_ptr<const Model> model_;
    const Pooling pooling_;
    const bool takes_parts_;
    const int32_t length_max_;
    const int32_t batch_tokens_;
    const int32_t batch_texts_;

    // Destroyed in reverse: the context lets go of the pool's threads first.
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    llama_batch batch_{};
};

} // namespace llama_rt
