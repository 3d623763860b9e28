// Changes single logits before a token is chosen: applies a request's biases and its penalties for recent tokens. Touches only
// the tokens concerned, and restores their logits afterwards.
#pragma once

#include "base/types.h"

#include <cstdint>
#include <span>
#include <vector>

#include "llama.h"

namespace llama_rt {

struct Sampling;

class Adjustments {
public:
    /// Drops biases of tokens outside the vocabulary. The penalties also apply to the prompt's last text tokens; image tokens
    /// are skipped.
    Adjustments(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt);

    /// Adds the biases, then the penalties, as llama.cpp's chain does. Call undo() before the next apply().
    void apply(std::span<float> logits);
    /// Restores the logits that apply() changed.
    void undo(std::span<float> logits);

    /// Adds a token to those that the penalties apply to.
    void accept(base::Token token);

private:
    struct Count {
        base::Token token;
        int32_t count;
    };
    struct Original {
        base::Token token;
        float logit;
    };

    float& changed(std::span<float> logits, base::Token token);
    std::vector<Count>::iterator count_of(base::Token token);

    std::vector<llama_logit_bias> biases_;
    float repeat_penalty_;
    float presence_penalty_;
    float frequency_penalty_;

    /// The last `window_` tokens, as a ring buffer once it is full; empty if the penalties are off.
    size_t window_;
    std::vector<base::Token> recent_;
    size_t oldest_ = 0;
    /// How often each of them occurs, by token.
    std::vector<Count> counts_;

    /// The logits that apply() has overwritten, in order.
    std::vector<Original> originals_;
};

} // namespace llama_rt
