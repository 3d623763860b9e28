#include "engine/step_cost.h"

#include <limits>

namespace engine {

namespace {

/// An observation is forgotten after so many steps: machines and contexts change.
constexpr uint64_t kForgottenAfter = 256;

/// Disturbances make a step longer, never shorter. So shorter observations count more.
constexpr double kWeightShorter = 0.5;
constexpr double kWeightLonger = 0.15;

/// A token beyond the largest step seen is estimated to cost this share of one of its tokens: little enough that it is tried
/// once where much is to be gained.
constexpr double kUnseenShare = 0.25;

} // namespace

void StepCost::observe(int32_t tokens, double ms) {
    if (tokens < 1 || tokens > kTokensMax || ms <= 0) return;
    steps_ += 1;
    const bool was_known = is_known(tokens);
    Seen& seen = seen_[static_cast<size_t>(tokens)];
    if (!was_known) seen.ms = ms;
    else seen.ms += (ms < seen.ms ? kWeightShorter : kWeightLonger) * (ms - seen.ms);
    seen.step = steps_;
}

bool StepCost::is_known(int32_t tokens) const {
    if (tokens > kTokensMax) return false;
    const Seen& seen = seen_[static_cast<size_t>(tokens)];
    return seen.ms > 0 && steps_ - seen.step < kForgottenAfter;
}

double StepCost::ms(int32_t tokens) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const auto seen_ms = [this](int32_t count) { return seen_[static_cast<size_t>(count)].ms; };
    if (tokens > kTokensMax) return kNever;
    int32_t fewer = tokens;
    while (fewer > 0 && !is_known(fewer)) fewer -= 1;
    int32_t more = tokens;
    while (more <= kTokensMax && !is_known(more)) more += 1;
    if (fewer == tokens) return seen_ms(tokens);
    if (fewer == 0) return more > kTokensMax ? kNever : seen_ms(more);
    if (more > kTokensMax) return seen_ms(fewer) * (1 + kUnseenShare * (tokens - fewer) / fewer);
    return seen_ms(fewer) + (seen_ms(more) - seen_ms(fewer)) * (tokens - fewer) / (more - fewer);
}

} // namespace engine
