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
constexpr double kLossMax = 0.015;
constexpr double kRestMax = 100'000;

/// Weight of the newest step in what is known about a drafter that takes time.
constexpr double kNewest = 0.1;

void average(std::optional<double>& mean, double value) {
    mean = mean ? *mean + kNewest * (value - *mean) : value;
}

/// How many of the drafts should be accepted.
double accepted_of(std::span<const Draft> drafts) {
    double all_accepted = 1;
    double sum = 0;
    for (const Draft& draft : drafts) sum += all_accepted *= draft.chance;
    return sum;
}

} // namespace

void Speculation::begin_step(int32_t decoding, int32_t tokens_max) {
    decoding_ = decoding;
    planned_ = decoding;
    expected_ = decoding;
    each_ = drafts_of_each(tokens_max);
    offers_ = {};
    asked_ = 0;
    drafting_ms_ = 0;
    if (rest_ > 0) rest_ -= 1;
}

void Speculation::prepare(std::span<const sched::DecodingText> texts) {
    if (slow_ == nullptr || texts.empty() || !may_ask(texts)) return;
    const auto count = static_cast<int32_t>(texts.size());
    slow_->prepare(texts, depth(count));
    const Drafter::Cost cost = slow_->cost();
    reading_ms_ += cost.reading_ms;
    drafting_ms_ = cost.drafting_ms;
    // The first time, memory is allocated and graphs are built, which says nothing about later.
    if (drafting_ms_ <= 0 || !std::exchange(has_drafted_, true)) return;
    asked_ = count;
    average(draft_ms_, drafting_ms_ / cost.drafts);
    for (const sched::DecodingText& text : texts) {
        const auto drafts = slow_->draft(text.id, text.tokens, 1);
        average(chance_, drafts.empty() ? 0 : drafts.front().chance);
    }
}

/// Whether to ask the drafter that takes a noticeable time.
bool Speculation::may_ask(std::span<const sched::DecodingText> texts) {
    const auto count = static_cast<int32_t>(texts.size());
    if (rest_ > 0 || count > slow_->texts_max() || !cost_.is_known(count)) return false;
    return std::ranges::none_of(texts, [this](const sched::DecodingText& text) {
        const auto drafts = quick_->draft(text.id, text.tokens, 1);
        return !drafts.empty() && drafts.front().chance >= kLikely;
    });
}

/// How many drafts of each text promise the most tokens per second, with the time for drafting them. At least 1: whether even that
/// pays is judged afterwards. All of them while nothing is known.
int32_t Speculation::depth(int32_t texts) const {
    const int32_t most = std::min(slow_->drafts_max(), drafts_max_);
    if (!draft_ms_ || !chance_) return most;
    int32_t best = 1;
    double speed = 0;
    double all_accepted = 1;
    double expected = 1;
    for (int32_t i = 1; i <= most; ++i) {
        all_accepted *= *chance_;
        expected += all_accepted;
        const double drafting_ms = slow_->drafts_at_once() ? *draft_ms_ : i * *draft_ms_;
        const double each = expected / (cost_.ms(texts * (1 + i)) + drafting_ms);
        if (each <= speed) continue;
        speed = each;
        best = i;
    }
    return best;
}

std::span<const base::Token> Speculation::draft(base::RequestId id, std::span<const base::Token> tokens,
                                                int32_t most) {
    tokens_.clear();
    most = std::min(most, drafts_max_);
    auto drafts = quick_->draft(id, tokens, most);
    if (asked_ > 0) {
        const auto slow = slow_->draft(id, tokens, most);
        if (accepted_of(slow) > accepted_of(drafts)) drafts = slow;
    }
    note_offer(drafts);
    for (const Draft& draft : drafts.first(worth(drafts))) tokens_.push_back(draft.token);
    return tokens_;
}

void Speculation::observe(int32_t computed, int32_t generated, double ms) {
    cost_.observe(computed, ms);
    if (asked_ > 0) judge_slow(generated, ms + drafting_ms_);
}

/// Whether replies are faster with the drafter that takes time, including that time.
void Speculation::judge_slow(int32_t generated, double ms) {
    const double without_ms = cost_.ms(asked_);
    trials_ = trials_ * kTrialFades + 1;
    trials_ms_ = trials_ms_ * kTrialFades + ms;
    trials_without_ms_ = trials_without_ms_ * kTrialFades + without_ms * generated / asked_;
    if (trials_ < kTrialsMin) return;
    const double reading_ms = std::exchange(reading_ms_, 0);
    double lost_ms = trials_ms_ - trials_without_ms_;
    if (lost_ms <= 0) return;
    lost_ms += reading_ms;
    rest_ = static_cast<int32_t>(std::min(lost_ms / (kLossMax * without_ms), kRestMax));
    trials_ = trials_ms_ = trials_without_ms_ = 0;
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
