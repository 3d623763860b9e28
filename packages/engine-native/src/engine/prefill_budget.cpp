#include "engine/prefill_budget.h"

#include <algorithm>

namespace engine {

namespace {

/// A step with prefill, and what comes between it and the next, may take this many times as long as one without: a stream that
/// slows to a fifth for a while is still readable, and prefill in chunks that large loses little.
constexpr double kStretch = 5;

/// While nothing is known.
constexpr int32_t kTokensUnknown = 64;

/// Never less: a batch costs much however few tokens it has, and a prompt in tiny chunks would take forever.
constexpr int32_t kTokensMin = 16;

/// Weight of the newest step: high enough to follow a machine that becomes busy within a few steps.
constexpr double kNewest = 0.4;

void average(double& mean, double value) {
    mean = mean == 0 ? value : mean + kNewest * (value - mean);
}

} // namespace

void PrefillBudget::observe(int32_t decoding, int32_t prompt, double ms) {
    if (ms <= 0) return;
    if (prompt == 0) {
        if (decoding > 0) average(decoding_step_ms_, ms);
        return;
    }
    // A few tokens say little: most of such a step's time is not their cost.
    if (prompt < kTokensMin) return;
    const double rest = decoding > 0 ? std::min(decoding_step_ms_, ms / 2) : 0;
    average(prompt_token_ms_, (ms - rest) / prompt);
}

int32_t PrefillBudget::tokens(int32_t decoding, int32_t waiting, double between_ms) const {
    // Waiting requests count as much as decoding ones: if many wait for a few, the few slow down more.
    const double crowd = std::max(1.0, static_cast<double>(waiting) / std::max(decoding, 1));
    const bool is_known = decoding_step_ms_ > 0 && prompt_token_ms_ > 0;
    const double prompt_ms = (kStretch * crowd - 1) * decoding_step_ms_ - between_ms;
    const double count = is_known ? prompt_ms / prompt_token_ms_ : kTokensUnknown * crowd;
    const int32_t least = std::min(kTokensMin, tokens_max_);
    return static_cast<int32_t>(std::clamp<double>(count, least, tokens_max_));
}

} // namespace engine
