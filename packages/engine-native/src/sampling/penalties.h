// The penalties for recent tokens: repetition, presence and frequency, computed as llama.cpp computes them.
#pragma once

#include "base/types.h"
#include "sampling/pool.h"
#include "sampling/sampling.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sampling {

class Penalties {
public:
    /// They also apply to the prompt's last text tokens; image tokens are skipped.
    Penalties(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt);

    /// Whether they change anything.
    bool is_on() const { return window_ > 0; }

    /// Whether no token gets likelier by them.
    bool only_lower() const;

    /// How many tokens they apply to.
    size_t size() const { return counts_.size(); }

    void apply(Pool& pool) const;

    /// Adds a token to those that they apply to.
    void accept(base::Token token);

private:
    struct Count {
        base::Token token;
        int32_t count;
    };

    std::vector<Count>::iterator count_of(base::Token token);

    float repeat_penalty_;
    float presence_penalty_;
    float frequency_penalty_;

    /// The last `window_` tokens, as a ring buffer once it is full; empty if the penalties are off.
    size_t window_;
    std::vector<base::Token> recent_;
    size_t oldest_ = 0;
    /// How often each of them occurs, by token.
    std::vector<Count> counts_;
};

/// The last `most` tokens of a prompt that are text, in their order.
std::vector<base::Token> last_text_tokens(std::span<const base::Token> prompt, size_t most);

} // namespace sampling
