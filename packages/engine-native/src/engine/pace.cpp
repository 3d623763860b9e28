#include "engine/pace.h"

#include <algorithm>

namespace engine {

namespace {

/// A turn with prompt tokens, and what comes between it and the next, may take this many times as long as one without: a
/// stream that slows to a fifth for a while is still read, and the prompt, computed in pieces that large, loses little.
constexpr double kStretch = 5;

/// While nothing is known.
constexpr int32_t kBudgetUnknown = 64;

/// Never less: a batch costs much however few tokens it has, and a prompt computed in crumbs takes for ever.
constexpr int32_t kBudgetMin = 16;

/// Weight of the newest turn. High enough to follow a machine that becomes busy within a few turns.
constexpr double kNewest = 0.4;

void average(double& mean, double value) {
    mean = mean == 0 ? value : mean + kNewest * (value - mean);
}

} // namespace

void Pace::observe(int32_t decoding, int32_t prompt, double ms) {
    if (ms <= 0) return;
    if (prompt == 0) {
        if (decoding > 0) average(decoding_turn_ms_, ms);
        return;
    }
    // A few tokens say little: most of such a turn is not their cost.
    if (prompt < kBudgetMin) return;
    const double rest = decoding > 0 ? std::min(decoding_turn_ms_, ms / 2) : 0;
    average(prompt_token_ms_, (ms - rest) / prompt);
}

int32_t Pace::budget_busy(int32_t decoding, int32_t waiting, double between_ms) const {
    // Who waits counts as much as who reads: when many wait for a few, the few slow down more.
    const double crowd = std::max(1.0, static_cast<double>(waiting) / std::max(decoding, 1));
    const bool is_known = decoding_turn_ms_ > 0 && prompt_token_ms_ > 0;
    const double prompt_ms = (kStretch * crowd - 1) * decoding_turn_ms_ - between_ms;
    const double tokens = is_known ? prompt_ms / prompt_token_ms_ : kBudgetUnknown * crowd;
    const int32_t least = std::min(kBudgetMin, budget_max_);
    return static_cast<int32_t>(std::clamp<double>(tokens, least, budget_max_));
}

} // namespace engine
