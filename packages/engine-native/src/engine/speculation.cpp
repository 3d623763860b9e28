#include "engine/speculation.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

namespace {

/// Drafts must promise at least this speedup: a smaller gain is lost if they turn out a little worse than estimated.
constexpr double kGainMin = 1.05;

/// A step with drafts may take this much longer than one without while it has other sequences, which do not benefit.
constexpr double kStretchMax = 1.1;

/// Number of trials before a drafter is judged, and how fast older ones fade.
constexpr double kTrialsMin = 8;
constexpr double kTrialFades = 0.95;

/// Share of all time that an unprofitable drafter may cost. It rests accordingly, for at most this many steps.
constexpr double kLossMax = 0.02;
constexpr double kRestMax = 100'000;

} // namespace

void Speculation::begin_step(int32_t decoding) {
    decoding_ = decoding;
    planned_ = decoding;
    expected_ = decoding;
    drafting_ms_ = 0;
    if (rest_ > 0) rest_ -= 1;
}

std::span<const base::Token> Speculation::draft(base::RequestId id, std::span<const base::Token> tokens,
                                                int32_t most) {
    tokens_.clear();
    if (drafter_->takes_time() && !may_ask(most)) return tokens_;
    const auto drafts = drafter_->draft(id, tokens, std::min(most, drafts_max_));
    const Drafter::Cost cost = drafter_->cost();
    reading_ms_ += cost.reading_ms;
    drafting_ms_ = cost.drafting_ms;
    for (const Draft& draft : drafts.first(worth(drafts))) tokens_.push_back(draft.token);
    return tokens_;
}

/// Whether to ask a drafter that takes a noticeable time.
bool Speculation::may_ask(int32_t most) const {
    return decoding_ == 1 && most >= 1 && rest_ == 0 && cost_.is_known(decoding_);
}

void Speculation::observe(int32_t computed, int32_t generated, double ms) {
    cost_.observe(computed, ms);
    if (drafting_ms_ > 0) judge_drafter(generated, ms + drafting_ms_);
}

/// Whether replies are faster with the drafter, including the time for drafting.
void Speculation::judge_drafter(int32_t generated, double ms) {
    trials_ = trials_ * kTrialFades + 1;
    trials_generated_ = trials_generated_ * kTrialFades + generated;
    trials_ms_ = trials_ms_ * kTrialFades + ms;
    if (trials_ < kTrialsMin) return;
    const double reading_ms = std::exchange(reading_ms_, 0);
    double lost_ms = trials_ms_ - trials_generated_ * cost_.ms(1);
    if (lost_ms <= 0) return;
    lost_ms += reading_ms;
    rest_ = static_cast<int32_t>(std::min(lost_ms / (kLossMax * cost_.ms(1)), kRestMax));
    trials_ = trials_generated_ = trials_ms_ = 0;
}

/// The number of a sequence's drafts that promises the most tokens per second for all sequences of the step together.
size_t Speculation::worth(std::span<const Draft> drafts) {
    // Steps with drafts are compared with steps without, so some steps must have none.
    if (!cost_.is_known(decoding_)) return 0;
    const double stretch = decoding_ > 1 ? kStretchMax : std::numeric_limits<double>::infinity();
    const double ms_max = cost_.ms(decoding_) * stretch;
    double speed = kGainMin * expected_ / cost_.ms(planned_);
    double expected = expected_;
    double all_accepted = 1;
    int32_t count = 0;
    for (int32_t i = 1; i <= std::ssize(drafts); ++i) {
        all_accepted *= drafts[static_cast<size_t>(i - 1)].chance;
        expected += all_accepted;
        const double ms = cost_.ms(planned_ + i);
        if (ms > ms_max || expected / ms <= speed) continue;
        speed = expected / ms;
        expected_ = expected;
        count = i;
    }
    planned_ += count;
    return static_cast<size_t>(count);
}

} // namespace engine
