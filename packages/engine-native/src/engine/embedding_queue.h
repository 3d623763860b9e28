// Computes embeddings beside generations, in a separate context that is created for the first request. Each engine step computes
// one batch: one text of each request in turn, or the next part of a long text.
//
// A batch that fails is computed again text by text, and a text that fails alone fails only its request.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "engine/embedding_memory.h"
#include "engine/events.h"
#include "engine/generation.h"
#include "llama/context/context.h"
#include "llama/embedding/embedder.h"
#include "llama/model/model.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

struct EmbeddingRequest {
    base::RequestId id;
    std::vector<std::vector<base::Token>> texts;
    /// What the context created for it may take, unless its memory was planned.
    MemoryLimits limits;
    Clock::time_point submitted;
};

class EmbeddingQueue {
public:
    /// `options` are the engine's, and `threadpool` is its context's.
    EmbeddingQueue(std::shared_ptr<const llama::Model> model, const llama::ContextOptions& options,
                   llama::ThreadpoolPtr threadpool);

    /// Any thread. Fails with `embeddings_not_supported`, `invalid_argument` or `context_length_exceeded` if the texts cannot be
    /// computed.
    base::Result<void> check(const std::vector<std::vector<base::Token>>& texts) const;

    /// Any thread: a batch in progress ends soon.
    void abort() { is_aborted_.store(true); }

    // The engine's thread.

    void add(EmbeddingRequest&& request);

    /// Ends a request. Returns its last event; nothing if there is no such request.
    std::optional<FinishEvent> cancel(base::RequestId id);

    bool is_empty() const { return requests_.empty(); }
    /// The numbers of running requests (at most as many as sequences may run) and of waiting ones.
    int32_t running() const { return running_; }
    int32_t waiting() const { return static_cast<int32_t>(waiting_.size()); }
    uint64_t tokens_computed() const { return tokens_computed_; }
    /// What the context takes beside the model's plan; empty if it is planned or not created yet.
    const std::vector<MemoryBytes>& unplanned_memory() const { return unplanned_memory_; }

    /// Computes one batch of at most `tokens_max` tokens, or one text that cannot be computed in parts. Appends the events of
    /// requests that are done or have failed.
    void step(int32_t tokens_max, std::vector<Event>& events);

    /// Ends every request with this error.
    void end_all(const base::Error& error, std::vector<Event>& events);

private:
    struct Request {
        std::vector<std::vector<base::Token>> texts;
        MemoryLimits limits;
        Clock::time_point submitted;
        /// When it began to run; since then, it has memory for its vectors.
        std::optional<Clock::time_point> started = std::nullopt;
        std::vector<float> vectors = {};
        /// Number of texts that have their vector.
        size_t done = 0;
    };
    struct Text {
        base::RequestId id;
        size_t index;
        /// Number of its tokens that are computed.
        int32_t computed = 0;
        /// A batch with it failed, so it is computed alone.
        bool is_alone = false;
    };

    const std::vector<base::Token>& tokens_of(const Text& text) const;
    std::span<float> vector_of(const Text& text);
    void admit(std::vector<Event>& events);
    base::Result<void> make_embedder_for(size_t length, const MemoryLimits& limits);
    void fill_batch(int32_t tokens_max);
    llama::Decoded compute(int32_t tokens_max);
    void settle(std::vector<Event>& events);
    void finish(base::RequestId id, std::vector<Event>& events);
    void batch_failed(base::Code code, std::vector<Event>& events);
    void fail(base::RequestId id, base::Error error, std::vector<Event>& events);
    void leave(base::RequestId id);

    // Constant after construction.
    const std::shared_ptr<const llama::Model> model_;
    const llama::ContextOptions options_;
    const llama::ThreadpoolPtr threadpool_;
    const base::Result<llama::Pooling> pooling_;
    const bool is_planned_;
    const int32_t length_max_;

    // Has its own lock.
    std::atomic<bool> is_aborted_ = false;

    // Owned by the engine's thread.
    /// Null until the first request. Recreated for a text that is too long for it.
    std::unique_ptr<llama::Embedder> embedder_;
    std::vector<MemoryBytes> unplanned_memory_;
    std::unordered_map<base::RequestId, Request> requests_;
    std::deque<base::RequestId> waiting_;
    int32_t running_ = 0;
    /// The next text of each running request in round-robin order, after texts of a batch that failed.
    std::deque<Text> round_;
    /// Between steps: a long text of which a part is computed, or none.
    std::vector<Text> batch_;
    std::vector<llama::TextPart> parts_;
    uint64_t tokens_computed_ = 0;
};

} // namespace engine
