// How long a step takes by the number of its tokens, learned from steps without prefill on this machine with this model: on a
// GPU eight tokens cost as much as one, on two cores three times as much. Pure arithmetic; the engine's thread measures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

class StepCost {
public:
    /// Steps with more tokens are neither learned nor estimated.
    static constexpr int32_t kTokensMax = 64;

    /// A step of `tokens` tokens took `ms`.
    void observe(int32_t tokens, double ms);

    /// Whether steps with so many tokens were seen, not too long ago.
    bool is_known(int32_t tokens) const;

    /// Milliseconds of a step with so many tokens, at least 1: as seen, or estimated from steps with fewer and with more tokens.
    /// Infinite beyond kTokensMax or if nothing is known.
    double ms(int32_t tokens) const;

private:
    struct Seen {
        /// Moving average; 0 if never seen.
        double ms = 0;
        uint64_t step = 0;
    };

    std::array<Seen, static_cast<size_t>(kTokensMax) + 1> seen_;
    uint64_t steps_ = 0;
};

} // namespace engine
