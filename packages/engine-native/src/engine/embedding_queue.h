// Requests for the vectors of texts: one more kind of work of the engine, with a context of its own that is made for the
// first of them. A turn computes one batch: texts of several requests by turns, or the next part of a long one.
//
// A batch that fails is computed again text by text, and what fails alone fails its request and no other.
#pragma once

#include "base/result.h"
#include "base/types.h"
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
    Clock::time_point submitted;
};

/// A context for texts of this length, on the engine that these options are of.
llama_rt::EmbedderOptions embedder_options(const llama_rt::ContextOptions& options, int32_t length);

/// Tokens of the longest text of a request.
int32_t embedding_length_max(const llama_rt::Model& model, const llama_rt::ContextOptions& options);

/// What embeddings will take of the memory, where the model is loaded for them: that much is planned for it. A model that
/// writes has its context for them made when somebody asks, as far as there is memory then. Any thread.
uint64_t planned_embedding_bytes(const llama_rt::Model& model, const llama_rt::ContextOptions& options);

class EmbeddingQueue {
public:
    /// `options` are those of the engine, and `threadpool` is that of its context.
    EmbeddingQueue(std::shared_ptr<const llama_rt::Model> model, const llama_rt::ContextOptions& options,
                   llama_rt::ThreadpoolPtr threadpool);

    /// Any thread. Why the texts cannot be computed: `embeddings_not_supported`, `invalid_argument`,
    /// `context_length_exceeded`.
    base::Result<void> check(const std::vector<std::vector<base::Token>>& texts) const;

    /// Any thread: what is being computed ends soon.
    void abort() { is_aborted_.store(true); }

    // The engine's thread.

    void add(EmbeddingRequest&& request);

    /// The request's last event, if there is such a request.
    std::optional<FinishEvent> cancel(base::RequestId id);

    bool is_empty() const { return requests_.empty(); }
    /// Requests of which texts are computed, at most as many as the engine has places, and those behind them.
    int32_t running() const { return running_; }
    int32_t waiting() const { return static_cast<int32_t>(line_.size()); }
    uint64_t tokens_computed() const { return tokens_computed_; }

    /// Computes one batch of at most `tokens_max` tokens, or one text that cannot be had in less. Appends the events of
    /// requests that are done or have failed.
    void turn(int32_t tokens_max, std::vector<Event>& events);

    /// Ends every request with `disposed`.
    void end_all(const base::Error& error, std::vector<Event>& events);

private:
    struct Request {
        std::vector<std::vector<base::Token>> texts;
        Clock::time_point submitted;
        /// When it left the line; then it has room for its vectors, one after the other.
        std::optional<Clock::time_point> started = std::nullopt;
        std::vector<float> vectors = {};
        /// The first text that was in no batch yet, and how many have their vector.
        size_t next = 0;
        size_t done = 0;
    };
    struct Text {
        base::RequestId id;
        size_t index;
        /// Tokens of it that are computed.
        int32_t computed = 0;
    };

    const std::vector<base::Token>& tokens_of(const Text& text) const;
    std::span<float> vector_of(const Text& text);
    void admit(std::vector<Event>& events);
    Text first_text() const;
    base::Result<void> make_room(size_t length);
    void choose(int32_t tokens_max);
    llama_rt::Decoded compute(int32_t tokens_max);
    void settle(std::vector<Event>& events);
    void finish(base::RequestId id, std::vector<Event>& events);
    void batch_failed(base::Code code, std::vector<Event>& events);
    void fail(base::RequestId id, base::Error error, std::vector<Event>& events);
    void leave(base::RequestId id);

    // Constant after construction.
    const std::shared_ptr<const llama_rt::Model> model_;
    const llama_rt::ContextOptions options_;
    const llama_rt::ThreadpoolPtr threadpool_;
    const base::Result<llama_rt::Pooling> pooling_;
    const int32_t length_max_;

    // Has its own lock.
    std::atomic<bool> is_aborted_ = false;

    // Owned by the engine's thread.
    /// Null until there is a request. Made anew for a text that is longer than it takes.
    std::unique_ptr<llama_rt::Embedder> embedder_;
    std::unordered_map<base::RequestId, Request> requests_;
    std::deque<base::RequestId> line_;
    int32_t running_ = 0;
    /// Running ones with texts that were in no batch yet; the first has its turn.
    std::deque<base::RequestId> turns_;
    /// Texts of a batch that failed: each is computed alone.
    std::deque<Text> again_;
    /// Between turns: a long text of which a part is computed, or nothing.
    std::vector<Text> batch_;
    std::vector<llama_rt::TextPart> parts_;
    uint64_t tokens_computed_ = 0;
};

} // namespace engine
