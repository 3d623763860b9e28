#include "engine/speculation.h"

#include <algorithm>
#include <limits>

namespace engine {

namespace {

/// Guesses must promise so much more speed: less is lost again where they are a little worse than thought.
constexpr double kGainMin = 1.05;

/// A turn with guesses may take so much longer than one without while it has other sequences, which gain nothing by them.
constexpr double kStretchMax = 1.1;

} // namespace

void Speculation::begin_turn(int32_t decoding) {
    decoding_ = decoding;
    tokens_ = decoding;
    expected_ = decoding;
}

std::span<const base::Token> Speculation::draft(base::RequestId id, std::span<const base::Token> tokens,
                                                int32_t most) {
    NgramDrafter& drafter = drafters_[id];
    drafter.observe(tokens);
    return drafter.guesses().first(static_cast<size_t>(worth(drafter, most)));
}

/// How many of a sequence's guesses promise the most tokens a second, for all in the turn together.
int32_t Speculation::worth(const NgramDrafter& drafter, int32_t most) {
    // A turn without guesses is what all is compared with: now and then there must be one.
    if (!cost_.is_known(decoding_)) return 0;
    const double stretch = decoding_ > 1 ? kStretchMax : std::numeric_limits<double>::infinity();
    const double ms_max = cost_.ms(decoding_) * stretch;
    const auto guesses = std::min(most, static_cast<int32_t>(drafter.guesses().size()));
    double speed = kGainMin * expected_ / cost_.ms(tokens_);
    double expected = expected_;
    double chance = 1;
    int32_t count = 0;
    for (int32_t i = 1; i <= guesses; ++i) {
        chance *= drafter.chance(static_cast<size_t>(i - 1));
        expected += chance;
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
