// How often guesses of one kind are right: a moving average. Used by those who guess.
#pragma once

#include <algorithm>
#include <cstdint>

namespace engine {

class HitRate {
public:
    void observe(bool is_right) {
        seen_ += 1;
        mean_ += ((is_right ? 1 : 0) - mean_) * std::max(1.0 / (seen_ + 1), kNewestMin);
    }

    /// 0 … 1; a coin's toss while nothing is known.
    double mean() const { return mean_; }

private:
    /// Weight of the newest guess at least: a text that changes its manner is noticed within some twenty tokens.
    static constexpr double kNewestMin = 0.08;

    double mean_ = 0.5;
    int32_t seen_ = 0;
};

} // namespace engine
