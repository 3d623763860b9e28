// Samplers that learn from the probability of each chosen token, and steer towards a target.
#pragma once

#include "base/types.h"
#include "sampling/pool.h"
#include "sampling/sampling.h"

#include <vector>

namespace sampling {

/// Mirostat 1 and 2, as llama.cpp has them: a text's surprise per token is held near a target by a bound on it, which each chosen token
/// corrects.
class Mirostat {
public:
    explicit Mirostat(const MirostatOptions& options) : options_(options), mu_(2.0F * options.tau) {}

    /// Cuts a pool that is no list yet to a sorted one.
    void cut(Pool& pool) const;

    /// A token of this probability was chosen.
    void observe(float probability);

private:
    void cut_by_surprise(Pool& pool) const;
    void cut_by_count(Pool& pool) const;

    const MirostatOptions options_;
    /// Twice the target at first.
    float mu_;
};

/// Adaptive-p, as llama.cpp has it: makes tokens likely whose probability is near a target. The target moves against the mean of the
/// probabilities of the last tokens, so that their mean stays near the one that was asked for.
class AdaptiveP {
public:
    explicit AdaptiveP(const AdaptiveOptions& options);

    /// Makes the pool a list and replaces its logits. Sets `before` to the list as it was, with its probabilities.
    void transform(Pool& pool, std::vector<Candidate>& before) const;

    /// A token was chosen that had this probability before transform().
    void observe(float probability);

private:
    const AdaptiveOptions options_;
    /// The probabilities of the tokens so far and how many these are, with weights that fade.
    float weighted_sum_;
    float total_weight_;
};

} // namespace sampling
