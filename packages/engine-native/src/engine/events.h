// What the engine tells the world about a request, in order: text, text, …, then one finish or one failure. Of a request
// for embeddings: one event with all of them, or one failure.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "sched/kv_blocks.h"

#include <string>
#include <variant>
#include <vector>

namespace engine {

/// A token as a text's bytes, which may be a part of a character, and the logarithm of its probability.
struct TokenLogprob {
    std::string bytes;
    float logprob;
};

/// Of one token of a text, and of those that were likeliest in its place.
struct TokenLogprobs {
    TokenLogprob chosen;
    std::vector<TokenLogprob> top;
};

struct TextEvent {
    base::RequestId id;
    std::string text;
    int32_t tokens;
    /// Of the tokens behind this text; empty unless the request asked for them.
    std::vector<TokenLogprobs> logprobs;
};

enum class FinishReason { stop, length, cancelled };

/// Milliseconds on the engine's clock.
struct FinishEvent {
    base::RequestId id;
    FinishReason reason;
    /// The stop string that ended the reply; empty when none did.
    std::string stop;
    int32_t prompt_tokens;
    int32_t cached_tokens;
    int32_t completion_tokens;
    /// Tokens of prompt and reply that were dropped because the context was full.
    int32_t dropped_tokens;
    /// Tokens that were guessed and computed, and those of them that were right.
    int32_t drafted_tokens;
    int32_t accepted_tokens;
    double queue_ms;
    double prompt_ms;
    double predicted_ms;
};

struct EmbeddingEvent {
    base::RequestId id;
    /// One after the other, in the order of the texts. As the model gives them: not normalized.
    std::vector<float> vectors;
    int32_t prompt_tokens;
    double queue_ms;
    /// From then until the last text was computed, with the turns of others between.
    double compute_ms;
};

struct FailureEvent {
    base::RequestId id;
    base::Error error;
};

/// Of no request: which blocks of tokens can be reused (Engine::report_blocks()).
struct KvBlocksEvent {
    sched::KvReport report;
};

using Event = std::variant<TextEvent, FinishEvent, EmbeddingEvent, FailureEvent, KvBlocksEvent>;

/// Whether it is the last event of a request.
inline bool ends_request(const Event& event) {
    return !std::holds_alternative<TextEvent>(event) && !std::holds_alternative<KvBlocksEvent>(event);
}

} // namespace engine
