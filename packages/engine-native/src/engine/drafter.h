// Speculative decoding: what proposes a text's next tokens (Drafter), how often proposals of a kind are right (AcceptanceRate),
// and which of them are accepted (verify). speculation.h decides how many drafts a step computes.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// A proposed token, and how likely it is accepted if those before it are: 0 … 1.
struct Draft {
    base::Token token;
    double chance;
};

class Drafter {
public:
    virtual ~Drafter() = default;

    /// Whether draft() takes time worth counting. A drafter that does is asked only while one sequence decodes and its drafts
    /// pay; any other is asked for every decoding sequence of every step, even for 0 drafts, so that it can follow the texts.
    virtual bool takes_time() const = 0;

    /// At most `most` drafts of the tokens that follow a request's text; none if nothing is likely. Valid until the next call.
    virtual std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                         int32_t most) = 0;

    /// What the last draft() took, in milliseconds.
    struct Cost {
        /// For drafting; 0 if it only read.
        double drafting_ms = 0;
        /// For reading text that the drafter did not follow: a prompt, or what was generated while it was not asked. That is
        /// paid once, whatever the drafts turn out to be worth.
        double reading_ms = 0;
    };
    virtual Cost cost() const { return {}; }

    /// A request has ended.
    virtual void forget(base::RequestId) {}

    /// Any thread: a draft() under way ends soon.
    virtual void abort() {}
};

/// How often drafts of one kind are accepted: a moving average.
class AcceptanceRate {
public:
    void observe(bool is_accepted) {
        seen_ += 1;
        mean_ += ((is_accepted ? 1 : 0) - mean_) * std::max(1.0 / (seen_ + 1), kNewestMin);
    }

    /// 0 … 1; one half while nothing is known.
    double mean() const { return mean_; }

private:
    /// Least weight of the newest draft: a text that changes its manner is noticed within some twenty tokens.
    static constexpr double kNewestMin = 0.08;

    double mean_ = 0.5;
    int32_t seen_ = 0;
};

struct Verified {
    /// How many drafts were accepted, from the first on.
    int32_t accepted;
    /// The token that was sampled after them.
    base::Token token;
    /// The generation ends with it.
    bool is_last;
};

/// Samples the token after a batch entry's own tokens, and one after each draft as long as the drafts are what was sampled.
/// `sample(i)` samples from the logits after the first `i` drafts and returns {token, is_last}. Each token is drawn once, in
/// order, from the logits of the true text. So drafts change nothing about a text, not even with a seed.
Verified verify(std::span<const base::Token> drafts, auto sample) {
    for (size_t accepted = 0;; ++accepted) {
        const auto [token, is_last] = sample(accepted);
        if (!is_last && accepted < drafts.size() && token == drafts[accepted]) continue;
        return {.accepted = static_cast<int32_t>(accepted), .token = token, .is_last = is_last};
    }
}

} // namespace engine
