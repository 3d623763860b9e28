// The budget of chunked prefill: how many prompt tokens a step may compute beside decoding sequences without slowing them too
// much. Learned from how long steps take on this machine with this model. Pure arithmetic; the engine's thread measures.
#pragma once

#include <cstdint>

namespace engine {

class PrefillBudget {
public:
    /// A step holds at most `tokens_max` tokens.
    explicit PrefillBudget(int32_t tokens_max) : tokens_max_(tokens_max) {}

    /// A step took `ms`: it computed `decoding` tokens of decoding sequences and `prompt` tokens of prompts.
    void observe(int32_t decoding, int32_t prompt, double ms);

    /// Prompt tokens for the next step, if `decoding` sequences decode and `waiting` requests wait for their first token.
    /// `between_ms` is what something else takes between two steps: a piece of an image's encoding.
    int32_t tokens(int32_t decoding, int32_t waiting, double between_ms = 0) const;

    /// How long a step takes on average that only decodes; 0 while nothing is known.
    double decoding_step_ms() const { return decoding_step_ms_; }

private:
    const int32_t tokens_max_;
    /// Moving averages; 0 while nothing is known.
    double decoding_step_ms_ = 0;
    double prompt_token_ms_ = 0;
};

} // namespace engine
