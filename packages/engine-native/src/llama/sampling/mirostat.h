// Mirostat 1 and 2, as llama.cpp has them: a text's surprise per token is held near a target by a bound on it, which each chosen token
// corrects.
#pragma once

#include "llama/sampling/pool.h"
#include "llama/sampling/sampling.h"

namespace llama_rt {

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

} // namespace llama_rt
