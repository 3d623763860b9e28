// Speculative decoding: the interface of components that propose a text's next tokens (Drafter), how often such proposals are
// right (AcceptanceRate), and which of them are accepted (verify). speculation.h decides how many drafts a step computes.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace engine {

/// A proposed token, and the probability that it is accepted if those before it are: 0 … 1.
struct Draft {
    base::Token token;
    double chance;
};

class Drafter {
public:
    virtual ~Drafter() = default;

    /// Whether draft() takes a noticeable time. Such a drafter is asked only while one sequence decodes and its drafts pay off;
    /// any other is asked for every decoding sequence of every step, even for 0 drafts, so that it can follow the texts.
    virtual bool takes_time() const = 0;

    /// At most `most` drafts of the tokens that follow a request's text; none if nothing is likely. Valid until the next call.
    virtual std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                         int32_t most) = 0;

    /// A new request, before its first draft(): what its reply will probably repeat, and whether its text may be drafted from in
    /// other requests, and theirs in it.
    virtual void begin(base::RequestId, std::span<const base::Token> /*prediction*/, bool /*shares*/) {}

    /// Whether draft() would draft nothing for any request.
    virtual bool is_idle() const { return false; }

    /// How long the last draft() took, in milliseconds.
    struct Cost {
        /// Time for drafting; 0 if it only read.
        double drafting_ms = 0;
        /// Time for reading text that the drafter had not followed: a prompt, or text generated while it was not asked. This cost
        /// arises once, whatever the drafts turn out to be worth.
        double reading_ms = 0;
    };
    virtual Cost cost() const { return {}; }

    /// A request has ended.
    virtual void forget(base::RequestId) {}

    /// Any thread: a draft() in progress ends soon.
    virtual void abort() {}
};

/// How often drafts of one kind are accepted: a moving average.
class AcceptanceRate {
public:
    void observe(bool is_accepted) {
        seen_ += 1;
        mean_ += ((is_accepted ? 1 : 0) - mean_) * std::max(1.0 / (seen_ + 1), kNewestMin);
    }

    /// 0 … 1; one half if nothing is known yet.
    double mean() const { return mean_; }

private:
    /// Minimum weight of the newest draft: a change in the text's style shows within some twenty tokens.
    static constexpr double kNewestMin = 0.08;

    double mean_ = 0.5;
    int32_t seen_ = 0;
};

struct Verified {
    /// How many drafts were accepted, from the first on.
    int32_t accepted;
    /// The token that was sampled after them.
    base::Token token;
    /// Whether the generation ends with it.
    bool is_last;
};

/// Samples the token after a batch entry's own tokens, and one after each draft as long as the drafts equal the sampled tokens.
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
