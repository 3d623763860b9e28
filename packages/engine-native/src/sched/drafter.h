// Guesses how a sequence goes on, so that several of its tokens can be computed in one turn; and how much of that, and of
// prompts, a turn may hold. The engine implements it; the scheduler asks.
#pragma once

#include "base/types.h"
#include "sched/image_source.h"

#include <cstdint>
#include <span>

namespace sched {

class Drafter {
public:
    virtual ~Drafter() = default;

    /// At most `most` guesses (which may be 0) of the tokens that follow `tokens`, the sequence as it is known; none when
    /// they are not worth computing. Valid until the next call. Asked once for every decoding sequence of a turn without
    /// prompts.
    virtual std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                               int32_t most) = 0;
};

/// What a turn may hold beside one token of each decoding sequence.
struct TurnBudget {
    /// Most prompt tokens while some sequence decodes; at least 1.
    int32_t prompt_busy;
    /// Most tokens of the step whose logits are wanted where there are guesses: one for each sequence that samples, those
    /// admitted in the same step included, and one for each guess.
    int32_t outputs = 0;
    /// Without one there are no guesses. REQUIRES: no checkpoints, for then a state cannot be cut back.
    Drafter* drafter = nullptr;
    /// Needed where there are images in prompts.
    ImageSource* images = nullptr;
};

} // namespace sched
