// Guesses a text's next tokens from the text itself: what followed the last time that its latest tokens stood there.
// Answers that repeat their prompt (a summary, a file with a change) are guessed well, others seldom; how well is learned
// for each text on its own, by comparing every guess with what came, whether it was computed or not. Pure; one for each
// generation (speculation.h).
#pragma once

#include "base/types.h"
#include "engine/hit_rate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

class NgramDrafter {
public:
    /// Guesses for more than these tokens ahead would seldom all be right.
    static constexpr size_t kGuessesMax = 8;

    /// The text as it is known now. Looks how good the guesses before were, and guesses anew.
    void observe(std::span<const base::Token> text);

    /// At most kGuessesMax tokens that may follow; none where the latest tokens have not stood before.
    std::span<const base::Token> guesses() const { return guesses_; }

    /// How likely guess `i` is right when those before it are; 0 … 1.
    double chance(size_t i) const { return rates_[rate_of(i)].mean(); }

private:
    void judge(std::span<const base::Token> text);
    void learn(std::span<const base::Token> text);
    void guess(std::span<const base::Token> text);
    uint32_t& end_of(std::span<const base::Token> text, size_t end);
    size_t rate_of(size_t guess) const;

    /// Where each three tokens in a row ended last in the text: a hash table whose empty places are 0. Its size is a power
    /// of two, at least twice the text's.
    std::vector<uint32_t> ends_;
    /// Tokens of the text that have gone into ends_, or were too few to.
    size_t learned_ = 0;

    std::vector<base::Token> guesses_;
    /// Length of the text that guesses_ follows, and how many of its last tokens are the same as before.
    size_t length_ = 0;
    size_t match_ = 0;
    /// By the number of tokens that are the same: the longer, the likelier the same goes on.
    std::array<HitRate, 8> rates_;
};

} // namespace engine
