// How long a turn takes by the number of its tokens, learned from turns without prompts on this machine with this model:
// on a GPU eight tokens cost what one costs, on two cores three times as much. Pure arithmetic; the engine's thread
// measures. Used by speculation.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace engine {

class TurnCost {
public:
    /// Turns with more tokens are neither learned nor estimated.
    static constexpr int32_t kTokensMax = 64;

    /// A turn of `tokens` tokens took `ms`.
    void observe(int32_t tokens, double ms);

    /// Such turns were seen, and not too long ago.
    bool is_known(int32_t tokens) const;

    /// Milliseconds of such a turn, at least 1 token: as seen, or estimated from those with fewer and with more tokens.
    /// Infinite beyond kTokensMax or when nothing is known.
    double ms(int32_t tokens) const;

private:
    struct Seen {
        /// Moving average; 0 is never.
        double ms = 0;
        uint64_t turn = 0;
    };

    std::array<Seen, static_cast<size_t>(kTokensMax) + 1> seen_;
    uint64_t turns_ = 0;
};

} // namespace engine
