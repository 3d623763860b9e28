// What the engine reports about its requests. A generation has text events and then one finish or failure; a request for
// embeddings has one event with all of them, or one failure. An event's type is a property of its own in JavaScript.
#pragma once

#include "base/fields.h"
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

/// A token with its bytes, which may be a part of a character, and the natural logarithm of its probability.
struct TokenLogprob {
    base::Token id;
    std::string bytes;
    float logprob;
};

constexpr auto fields_of(const TokenLogprob*) {
    return base::rows(base::field("id", &TokenLogprob::id),
                      base::field("bytes", &TokenLogprob::bytes, {.as = base::As::bytes}),
                      base::field("logprob", &TokenLogprob::logprob));
}

/// The log probabilities of one token of a text, and of the likeliest tokens in its place.
struct TokenLogprobs {
    TokenLogprob chosen;
    std::vector<TokenLogprob> top;
};

constexpr auto fields_of(const TokenLogprobs*) {
    return base::rows(base::inlined(&TokenLogprobs::chosen), base::field("top", &TokenLogprobs::top));
}

struct TextEvent {
    static constexpr const char* kType = "text";
    base::RequestId id;
    std::string text;
    int32_t tokens;
    /// Log probabilities of the tokens that this text consists of; empty unless requested.
    std::vector<TokenLogprobs> logprobs;
};

constexpr auto fields_of(const TextEvent*) {
    return base::rows(base::field("id", &TextEvent::id), base::field("text", &TextEvent::text),
                      base::field("tokens", &TextEvent::tokens),
                      base::field("logprobs", &TextEvent::logprobs, {.is_left_out_if_empty = true}));
}

/// Progress of a prompt, for requests that ask for it or for log probabilities of their prompt. Comes before the first text.
struct PromptEvent {
    static constexpr const char* kType = "prompt";
    base::RequestId id;
    /// Tokens of the prompt, of which so many came from the prefix cache and so many are computed or came from it.
    int32_t tokens;
    int32_t cached;
    int32_t computed;
    /// Since the prompt was begun.
    double ms;
    /// Log probabilities of the next tokens of the prompt; NaN for the first one. Empty unless requested.
    std::vector<TokenLogprobs> logprobs;
};

constexpr auto fields_of(const PromptEvent*) {
    return base::rows(base::field("id", &PromptEvent::id), base::field("promptTokens", &PromptEvent::tokens),
                      base::field("cachedTokens", &PromptEvent::cached),
                      base::field("computedTokens", &PromptEvent::computed),
                      base::field("ms", &PromptEvent::ms),
                      base::field("logprobs", &PromptEvent::logprobs, {.is_left_out_if_empty = true}));
}

enum class FinishReason { stop, length, cancelled };

/// Milliseconds on the engine's clock.
struct FinishEvent {
    static constexpr const char* kType = "finish";
    base::RequestId id;
    FinishReason reason;
    /// The stop string that ended the text; empty if none did.
    std::string stop;
    int32_t prompt_tokens;
    int32_t cached_tokens;
    int32_t completion_tokens;
    /// Those of thoughts, with the marks that end them; 0 where the request did not tell how a thought is marked.
    int32_t reasoning_tokens;
    /// Prompt and generated tokens that were dropped because the context was full.
    int32_t dropped_tokens;
    /// Number of drafts computed, and how many of them were accepted.
    int32_t drafted_tokens;
    int32_t accepted_tokens;
    double queue_ms;
    double prompt_ms;
    double predicted_ms;
};

constexpr auto fields_of(const FinishEvent*) {
    return base::rows(
        base::field("id", &FinishEvent::id),
        base::choice("reason", &FinishEvent::reason,
                     {{"stop", FinishReason::stop},
                      {"length", FinishReason::length},
                      {"cancelled", FinishReason::cancelled}}),
        base::field("stop", &FinishEvent::stop), base::field("promptTokens", &FinishEvent::prompt_tokens),
        base::field("cachedTokens", &FinishEvent::cached_tokens),
        base::field("completionTokens", &FinishEvent::completion_tokens),
        base::field("reasoningTokens", &FinishEvent::reasoning_tokens),
        base::field("droppedTokens", &FinishEvent::dropped_tokens),
        base::field("draftedTokens", &FinishEvent::drafted_tokens),
        base::field("acceptedTokens", &FinishEvent::accepted_tokens),
        base::field("queueMs", &FinishEvent::queue_ms), base::field("promptMs", &FinishEvent::prompt_ms),
        base::field("predictedMs", &FinishEvent::predicted_ms));
}

struct EmbeddingEvent {
    static constexpr const char* kType = "embeddings";
    base::RequestId id;
    /// The vectors one after the other, in the order of the texts, as the model computes them: not normalized.
    std::vector<float> vectors;
    int32_t prompt_tokens;
    double queue_ms;
    /// From then until the last text was computed, including other requests' batches.
    double compute_ms;
};

constexpr auto fields_of(const EmbeddingEvent*) {
    return base::rows(base::field("id", &EmbeddingEvent::id),
                      base::field("vectors", &EmbeddingEvent::vectors),
                      base::field("promptTokens", &EmbeddingEvent::prompt_tokens),
                      base::field("queueMs", &EmbeddingEvent::queue_ms),
                      base::field("computeMs", &EmbeddingEvent::compute_ms));
}

struct FailureEvent {
    static constexpr const char* kType = "error";
    base::RequestId id;
    base::Error error;
};

constexpr auto fields_of(const FailureEvent*) {
    return base::rows(base::field("id", &FailureEvent::id), base::inlined(&FailureEvent::error));
}

/// Which blocks of tokens can be reused (Engine::report_blocks()). Belongs to no request.
struct KvBlocksEvent {
    static constexpr const char* kType = "blocks";
    /// Hashes, by where the blocks were.
    struct Removed {
        std::vector<uint64_t> device;
        std::vector<uint64_t> host;
    };
    bool is_restated;
    Removed removed;
    std::vector<sched::KvReport::Stored> stored;
};

constexpr auto fields_of(const KvBlocksEvent::Removed*) {
    return base::rows(base::field("device", &KvBlocksEvent::Removed::device),
                      base::field("host", &KvBlocksEvent::Removed::host));
}

constexpr auto fields_of(const KvBlocksEvent*) {
    return base::rows(base::field("isRestated", &KvBlocksEvent::is_restated),
                      base::field("removed", &KvBlocksEvent::removed),
                      base::field("stored", &KvBlocksEvent::stored));
}

using Event = std::variant<PromptEvent, TextEvent, FinishEvent, EmbeddingEvent, FailureEvent, KvBlocksEvent>;

/// Whether this is the last event of a request.
inline bool ends_request(const Event& event) {
    return !std::holds_alternative<PromptEvent>(event) && !std::holds_alternative<TextEvent>(event) &&
           !std::holds_alternative<KvBlocksEvent>(event);
}

/// The outcome of a step: for the scheduler, and for the requests that failed in it.
struct ExecutedStep {
    sched::StepResult result;
    std::vector<FailureEvent> failures;
};

} // namespace engine
