#include "engine/speculation.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace engine {

namespace {

/// Guesses must promise so much more speed: less is lost again where they are a little worse than thought.
constexpr double kGainMin = 1.05;

/// A turn with guesses may take so much longer than one without while it has other sequences, which gain nothing by them.
constexpr double kStretchMax = 1.1;

/// Turns after which it can be told whether the model pays, and how fast older ones fade.
constexpr double kTrialsMin = 8;
constexpr double kTrialFades = 0.95;

/// Time that may be lost with a model that does not pay, as a share of all; it rests accordingly, for so many turns at
/// most.
constexpr double kLossMax = 0.02;
constexpr double kRestMax = 100'000;

} // namespace

void Speculation::begin_turn(int32_t decoding) {
    decoding_ = decoding;
    tokens_ = decoding;
    expected_ = decoding;
    model_ms_ = 0;
    if (rest_ > 0) rest_ -= 1;
}

std::span<const base::Token> Speculation::draft(base::RequestId id, std::span<const base::Token> tokens,
                                                int32_t most) {
    if (model_ != nullptr) return draft_by_model(tokens, most);
    NgramDrafter& drafter = drafters_[id];
    try {
        drafter.observe(tokens);
    } catch (const std::bad_alloc&) {
        return {}; // it is a help, and no part of the reply
    }
    const auto guesses = std::min(most, static_cast<int32_t>(drafter.guesses().size()));
    const int32_t count = worth(guesses, [&](size_t i) { return drafter.chance(i); });
    return drafter.guesses().first(static_cast<size_t>(count));
}

std::span<const base::Token> Speculation::draft_by_model(std::span<const base::Token> tokens, int32_t most) {
    drafts_.clear();
    if (decoding_ > 1 || most < 1 || rest_ > 0 || !cost_.is_known(decoding_)) return drafts_;
    const auto guesses = model_->guess(tokens, std::min(most, model_tokens_));
    reading_ms_ += model_->reading_ms();
    if (guesses.empty() && model_->reading_ms() > 0) return drafts_; // it has yet to read the rest
    model_ms_ = model_->ms();
    const int32_t count =
        worth(static_cast<int32_t>(guesses.size()), [&](size_t i) { return guesses[i].chance; });
    for (const Guesser::Guess& guess : guesses.first(static_cast<size_t>(count)))
        drafts_.push_back(guess.token);
    return drafts_;
}

void Speculation::observe(int32_t computed, int32_t given, double ms) {
    cost_.observe(computed, ms);
    if (model_ms_ > 0) judge_model(given, ms + model_ms_);
}

/// Whether replies are faster with the model's guesses, the time that it takes to guess included.
void Speculation::judge_model(int32_t given, double ms) {
    trials_ = trials_ * kTrialFades + 1;
    trials_given_ = trials_given_ * kTrialFades + given;
    trials_ms_ = trials_ms_ * kTrialFades + ms;
    if (trials_ < kTrialsMin) return;
    const double reading_ms = std::exchange(reading_ms_, 0);
    double lost_ms = trials_ms_ - trials_given_ * cost_.ms(1);
    if (lost_ms <= 0) return;
    lost_ms += reading_ms;
    rest_ = static_cast<int32_t>(std::min(lost_ms / (kLossMax * cost_.ms(1)), kRestMax));
    trials_ = trials_given_ = trials_ms_ = 0;
}

/// How many of a sequence's guesses promise the most tokens a second, for all in the turn together.
int32_t Speculation::worth(int32_t guesses, auto chance) {
    // A turn without guesses is what all is compared with: now and then there must be one.
    if (!cost_.is_known(decoding_)) return 0;
    const double stretch = decoding_ > 1 ? kStretchMax : std::numeric_limits<double>::infinity();
    const double ms_max = cost_.ms(decoding_) * stretch;
    double speed = kGainMin * expected_ / cost_.ms(tokens_);
    double expected = expected_;
    double all_right = 1;
    int32_t count = 0;
    for (int32_t i = 1; i <= guesses; ++i) {
        all_right *= chance(static_cast<size_t>(i - 1));
        expected += all_right;
        const double ms = cost_.ms(tokens_ + i);
        if (ms > ms_max || expected / ms <= speed) continue;
        speed = expected / ms;
        expected_ = expected;
        count = i;
    }
    tokens_ += count;
    return count;
}

} // namespace engine
