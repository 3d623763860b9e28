// What the engine tells the world about a request, in order: text, text, …, then one finish or one failure.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <string>
#include <variant>

namespace engine {

struct TextEvent {
    base::RequestId id;
    std::string text;
    int32_t tokens;
};

enum class FinishReason { stop, length, cancelled };

/// Milliseconds on the engine's clock.
struct FinishEvent {
    base::RequestId id;
    FinishReason reason;
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

struct FailureEvent {
    base::RequestId id;
    base::Error error;
};

using Event = std::variant<TextEvent, FinishEvent, FailureEvent>;

} // namespace engine
