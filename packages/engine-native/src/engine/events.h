// What the engine reports about its requests. A generation has text events and then one finish or failure; a request for
// embeddings has one event with all of them, or one failure.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "sched/kv_blocks.h"
#include "sched/step.h"

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace engine {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::time_point from, Clock::time_point to = Clock::now()) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

/// A token's bytes, which may be a part of a character, and the natural logarithm of its probability.
struct TokenLogprob {
    std::string bytes;
    float logprob;
};

/// Of one token of a text, and of the likeliest tokens in its place.
struct TokenLogprobs {
    TokenLogprob chosen;
    std::vector<TokenLogprob> top;
};

struct TextEvent {
    base::RequestId id;
    std::string text;
    int32_t tokens;
    /// Of the tokens that this text consists of; empty unless the request asked for them.
    std::vector<TokenLogprobs> logprobs;
};

enum class FinishReason { stop, length, cancelled };

/// Milliseconds on the engine's clock.
struct FinishEvent {
    base::RequestId id;
    FinishReason reason;
    /// The stop string that ended the text; empty if none did.
    std::string stop;
    int32_t prompt_tokens;
    int32_t cached_tokens;
    int32_t completion_tokens;
    /// Prompt and generated tokens that were dropped because the context was full.
    int32_t dropped_tokens;
    /// Drafts that were computed, and those of them that were accepted.
    int32_t drafted_tokens;
    int32_t accepted_tokens;
    double queue_ms;
    double prompt_ms;
    double predicted_ms;
};

struct EmbeddingEvent {
    base::RequestId id;
    /// One vector after the other, in the order of the texts. As the model computes them: not normalized.
    std::vector<float> vectors;
    int32_t prompt_tokens;
    double queue_ms;
    /// From then until the last text was computed, including other requests' batches.
    double compute_ms;
};

struct FailureEvent {
    base::RequestId id;
    base::Error error;
};

/// Belongs to no request: which blocks of tokens can be reused (Engine::report_blocks()).
struct KvBlocksEvent {
    sched::KvReport report;
};

using Event = std::variant<TextEvent, FinishEvent, EmbeddingEvent, FailureEvent, KvBlocksEvent>;

/// Whether this is the last event of a request.
inline bool ends_request(const Event& event) {
    return !std::holds_alternative<TextEvent>(event) && !std::holds_alternative<KvBlocksEvent>(event);
}

/// What became of a step: for the scheduler, and for the requests that failed in it.
struct ExecutedStep {
    sched::StepResult result;
    std::vector<FailureEvent> failures;
};

} // namespace engine
