// One request while the engine works on it: its tokens, its sampler, its text, its clock. The scheduler knows only
// lengths; this knows the rest. Engine thread only.
#pragma once

#include "base/types.h"
#include "engine/events.h"
#include "engine/text_stream.h"
#include "llama/model.h"
#include "llama/sampler.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace engine {

using Clock = std::chrono::steady_clock;

/// A request as it comes in: checked, complete, plain data.
struct GenerationRequest {
    base::RequestId id;
    std::string client;
    std::vector<base::Token> prompt;
    llama_rt::Sampling sampling;
    /// At least 1, and prompt + generate_max fits the context.
    int32_t generate_max;
    std::vector<std::string> stops;
    bool ignore_eos;
    Clock::time_point submitted;
};

class Generation {
public:
    Generation(const llama_rt::Model& model, GenerationRequest request);

    base::RequestId id() const { return request_.id; }

    std::span<const base::Token> tokens(int32_t first, int32_t count) const {
        return std::span(tokens_).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    }

    /// The first of its tokens is about to be computed (again, after a preemption: then nothing changes).
    void start(Clock::time_point now);

    /// Samples a token from `logits` and adds it. True when the generation ends with it.
    [[nodiscard]] bool sample(const float* logits, llama_rt::Candidates& candidates, Clock::time_point now);

    /// Text that has become showable since the last call; empty when there is none.
    TextEvent take_text();

    FinishEvent finish(Clock::time_point now) const;
    FinishEvent cancelled(Clock::time_point now) const;

private:
    FinishEvent record(FinishReason reason, Clock::time_point now) const;

    const llama_rt::Model& model_;
    const GenerationRequest request_;
    llama_rt::Sampler sampler_;
    TextStream stream_;
    /// Prompt and generated tokens.
    std::vector<base::Token> tokens_;
    int32_t generated_ = 0;
    FinishReason reason_ = FinishReason::stop;

    std::string piece_;
    std::string text_;
    int32_t text_tokens_ = 0;

    Clock::time_point started_{};
    Clock::time_point first_token_{};
};

} // namespace engine
