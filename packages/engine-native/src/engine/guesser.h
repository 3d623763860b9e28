// Somebody else who guesses a text's next tokens, at a cost: a draft model. Speculation asks; its tests have one of their
// own.
#pragma once

#include "base/types.h"

#include <cstdint>
#include <span>

namespace engine {

class Guesser {
public:
    struct Guess {
        base::Token token;
        /// How likely it is right when those before it are; 0 … 1.
        double chance;
    };

    virtual ~Guesser() = default;

    /// Up to `most` tokens, at least 1, that may follow; none while it has yet to read the text. Valid until the next
    /// call.
    virtual std::span<const Guess> guess(std::span<const base::Token> text, int32_t most) = 0;

    /// Milliseconds that the last call took to guess.
    virtual double ms() const = 0;

    /// Milliseconds that the last call took, beside ms(), to read a text that it did not follow: a prompt, or what was
    /// generated while nobody asked. That is paid once, whatever the guesses turn out to be worth.
    virtual double reading_ms() const = 0;
};

} // namespace engine
