// DRY ("don't repeat yourself"): finds how the text's end is repeated further up, and penalizes the tokens that would go on with a
// repetition, exponentially with its length. The same rule as llama.cpp's sampler. Breakers, across which no repetition goes, are
// looked for in the text itself: llama.cpp searches its vocabulary for tokens that may be their parts.
#pragma once

#include "base/types.h"
#include "sampling/pool.h"
#include "sampling/sampling.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sampling {

/// Appends a token's bytes, those of control tokens included.
using AppendPiece = std::function<void(base::Token token, std::string& bytes)>;

class Dry {
public:
    /// The prompt's last text tokens belong to the text. Without `append_piece`, there are no breakers.
    Dry(const DryOptions& options, std::span<const base::Token> prompt, AppendPiece append_piece);

    void apply(Pool& pool);

    /// Adds a token to the text.
    void accept(base::Token token);

private:
    struct Penalty {
        base::Token token;
        /// The longest repetition that the token would continue; then what is subtracted from its logit.
        int32_t length;
        float amount;
    };

    void begin(std::span<const base::Token> prompt);
    void find_penalties();
    void find_repetitions(std::span<const base::Token> text, int32_t longest);
    bool is_breaker(base::Token token);

    const DryOptions options_;
    const AppendPiece append_piece_;
    /// Longest breaker minus one, in bytes: nothing before can be a part of a breaker that ends with the next byte.
    size_t lookback_ = 0;

    /// The text, of which the last `last_n` tokens count; at most twice as many are kept.
    std::vector<base::Token> text_;
    /// The last bytes of the text, as many as `lookback_`.
    std::string tail_;
    /// Tokens since the last one that completed a breaker, or since the text's start.
    int32_t since_breaker_ = 0;

    bool is_found_ = false;
    /// By token.
    std::vector<Penalty> penalties_;
    std::vector<int32_t> repeated_;
    std::string piece_;
};

} // namespace sampling
