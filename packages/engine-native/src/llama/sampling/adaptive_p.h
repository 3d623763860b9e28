// Adaptive-p, as llama.cpp has it: makes tokens likely whose probability is near a target. The target moves against the mean of the
// probabilities of the last tokens, so that their mean stays near the one that was asked for.
#pragma once

#include "base/types.h"
#include "llama/sampling/pool.h"
#include "llama/sampling/sampling.h"

#include <vector>

namespace llama_rt {

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

} // namespace llama_rt
