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

/// A sequence whose next draft is less likely accepted might be slower in a step in which all have drafts.
constexpr double kLikely = 0.7;

/// Number of trials before a drafter is judged, and how fast older ones fade.
constexpr double kTrialsMin = 8;
constexpr double kTrialFades = 0.95;

/// Share of all time that an unprofitable drafter may cost. It rests accordingly, for at most this many steps.
constexpr double kLossMax = 0.02;
constexpr double kRestMax = 100'000;

} // namespace

void Speculation::begin_step(int32_t decoding, int32_t tokens_max) {
    decoding_ = decoding;
    planned_ = decoding;
    expected_ = decoding;
    each_ = drafts_of_each(tokens_max);
    offers_ = {};
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
    note_offer(drafts);
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

void Speculation::note_offer(std::span<const Draft> drafts) {
    if (drafts.empty() || drafts.front().chance < kLikely) return;
    offers_.sequences += 1;
    double all_accepted = 1;
    for (size_t i = 0; i < std::min(drafts.size(), kEachMax); ++i) {
        all_accepted *= drafts[i].chance;
        offers_.accepted[i] += all_accepted;
    }
}

/// If all sequences of the last step had likely drafts: the number for each that promises the most tokens per second.
int32_t Speculation::drafts_of_each(int32_t tokens_max) const {
    if (decoding_ < 2 || offers_.sequences < decoding_ || !cost_.is_known(decoding_)) return 0;
    double speed = kGainMin * decoding_ / cost_.ms(decoding_);
    double expected = decoding_;
    int32_t each = 0;
    const int32_t most = std::min({static_cast<int32_t>(kEachMax), drafts_max_, tokens_max / decoding_ - 1});
    for (int32_t i = 1; i <= most; ++i) {
        expected += offers_.accepted[static_cast<size_t>(i - 1)];
        const double ms = cost_.ms(decoding_ * (1 + i));
        if (expected / ms <= speed) continue;
        speed = expected / ms;
        each = i;
    }
    return each;
}

/// The number of a sequence's drafts that promises the most tokens per second for all sequences of the step together.
size_t Speculation::worth(std::span<const Draft> drafts) {
    // Steps with drafts are compared with steps without, so some steps must have none.
    if (!cost_.is_known(decoding_)) return 0;
    if (each_ > 0) {
        const size_t count = std::min(drafts.size(), static_cast<size_t>(each_));
        planned_ += static_cast<int32_t>(count);
        return count;
    }
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
