// What changes single logits before a token is chosen: a request's biases, and its penalties for the tokens that came
// last. Only the tokens concerned are touched, and their logits are put back afterwards. Used by Sampler.
#pragma once

#include "base/types.h"
#include "llama/sampling/sampling.h"

#include <cstdint>
#include <span>
#include <vector>

namespace llama_rt {

class Adjustments {
public:
    /// Biases of tokens outside the vocabulary are dropped. The penalties look at the prompt's last words too:
    /// images are passed over.
    Adjustments(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt);

    /// Adds the biases, then the penalties, as llama.cpp's chain does. undo() must follow before the next apply().
    void apply(std::span<float> logits);
    void undo(std::span<float> logits);

    /// The penalties look at this token from now on.
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

    /// The last `window_` tokens, in a ring once there are as many; none when the penalties are off.
    size_t window_;
    std::vector<base::Token> recent_;
    size_t oldest_ = 0;
    /// How often each of them occurs, by token.
    std::vector<Count> counts_;

    /// What apply() has overwritten, in its order.
    std::vector<Original> originals_;
};

} // namespace llama_rt
