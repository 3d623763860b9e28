#include "engine/pace.h"

#include <algorithm>

namespace engine {

namespace {

/// A turn with prompt tokens may take this many times as long as one without: a stream that slows to a third is still
/// read with ease, and a prompt still gets two thirds of the machine.
constexpr double kStretch = 3;

/// While nothing is known, and never less than the minimum: a prompt must get on in any case.
constexpr int32_t kBudgetUnknown = 32;
constexpr int32_t kBudgetMin = 4;

/// Weight of the newest turn. High enough to follow a machine that becomes busy within a few turns.
constexpr double kNewest = 0.2;

/// Turns with fewer prompt tokens than this say little about one token's cost.
constexpr int32_t kPromptTokensTelling = 4;

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
    if (prompt < kPromptTokensTelling) return;
    const double rest = decoding > 0 ? std::min(decoding_turn_ms_, ms / 2) : 0;
    average(prompt_token_ms_, (ms - rest) / prompt);
}

int32_t Pace::budget_busy() const {
    if (decoding_turn_ms_ == 0 || prompt_token_ms_ == 0) return std::min(kBudgetUnknown, budget_max_);
    const double tokens = (kStretch - 1) * decoding_turn_ms_ / prompt_token_ms_;
    return static_cast<int32_t>(
        std::clamp(tokens, static_cast<double>(kBudgetMin), static_cast<double>(budget_max_)));
}

} // namespace engine
