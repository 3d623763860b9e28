#include "engine/step_cost.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace engine {

namespace {

/// An observation is forgotten after this many steps: machines and contexts change.
constexpr uint64_t kForgottenAfter = 256;

/// Disturbances only ever make a step longer, so shorter observations count more.
constexpr double kWeightShorter = 0.5;
constexpr double kWeightLonger = 0.15;

/// A token beyond the largest step seen is estimated to cost this share of one of its tokens: little enough that it is tried
/// once where much is to be gained.
constexpr double kUnseenShare = 0.25;

/// A step with prefill, and what comes between it and the next, may take this many times as long as one without: a stream that
/// slows to a fifth for a while is still readable, and prefill in chunks that large loses little.
constexpr double kStretch = 5;

/// The budget while nothing is known.
constexpr int32_t kTokensUnknown = 64;

/// The minimum budget: a batch is expensive however few tokens it has, and a prompt in tiny chunks would take forever.
constexpr int32_t kTokensMin = 16;

/// A number of prompt tokens that differs from the last one by less than this share of it is not worth a new graph.
constexpr int32_t kSteadyShare = 8;

/// Weight of the newest step: high enough to follow a machine that becomes busy within a few steps.
constexpr double kNewestStep = 0.4;

void average(double& mean, double value) {
    mean = mean == 0 ? value : mean + kNewestStep * (value - mean);
}

/// An average that a single disturbed step changes little.
void calm_average(double& mean, double value) {
    mean = mean == 0 ? value : mean + (value < mean ? kWeightShorter : kWeightLonger) * (value - mean);
}

} // namespace

void StepCost::observe(int32_t tokens, double ms) {
    if (tokens < 1 || tokens > kTokensMax || ms <= 0) return;
    steps_ += 1;
    const bool was_known = is_known(tokens);
    Seen& seen = seen_[static_cast<size_t>(tokens)];
    if (!was_known) seen.ms = 0;
    calm_average(seen.ms, ms);
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

std::optional<UnfinishedSteps::Computed> UnfinishedSteps::add(int32_t prompt, double ms, bool is_computed) {
    unfinished_.prompt += prompt;
    unfinished_.ms += ms;
    if (!is_computed) return std::nullopt;
    return std::exchange(unfinished_, {.prompt = 0, .ms = 0});
}

void PrefillBudget::observe(int32_t decoding, int32_t prompt, double ms) {
    if (ms <= 0) return;
    if (prompt == 0) {
        // The last step before a prompt is often a disturbed one: the prompt is turned into tokens meanwhile.
        if (decoding > 0) calm_average(decoding_step_ms_, ms);
        return;
    }
    // A few tokens say little: most of such a step's time is not spent on them.
    if (prompt < kTokensMin) return;
    const double rest = decoding > 0 ? std::min(decoding_step_ms_, ms / 2) : 0;
    average(prompt_token_ms_, (ms - rest) / prompt);
}

int32_t PrefillBudget::tokens(int32_t decoding, int32_t waiting, double between_ms) {
    // Waiting requests count as much as decoding ones: if many wait for a few, the few slow down more.
    const double crowd = std::max(1.0, static_cast<double>(waiting) / std::max(decoding, 1));
    const bool is_known = decoding_step_ms_ > 0 && prompt_token_ms_ > 0;
    const double prompt_ms = (kStretch * crowd - 1) * decoding_step_ms_ - between_ms;
    const double count = is_known ? prompt_ms / prompt_token_ms_ : kTokensUnknown * crowd;
    const int32_t least = std::min(kTokensMin, tokens_max_);
    const auto wanted = static_cast<int32_t>(std::clamp<double>(count, least, tokens_max_));
    if (kSteadyShare * std::abs(wanted - tokens_) > tokens_) tokens_ = wanted;
    return tokens_;
}

void CopyCost::observe(int32_t tokens, double ms) {
    if (tokens > 0 && ms > 0) average(token_ms_, ms / tokens);
}

/// It is copied back, too, if it is used again.
bool CopyCost::pays(double prompt_token_ms) const {
    return token_ms_ == 0 || prompt_token_ms == 0 || 2 * token_ms_ < prompt_token_ms;
}

} // namespace engine
