// Speculative decoding: the interface of components that propose a text's next tokens (Drafter), how often such proposals are
// right (AcceptanceRate), and which of them are accepted (verify). speculation.h decides how many drafts a step computes.
#pragma once

#include "base/types.h"
#include "sched/step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace engine {

/// A proposed token, and the probability that it is accepted if those before it are: 0 … 1.
struct Draft {
    base::Token token;
    double chance;
};

/// The tokens whose hidden states a drafter reads: those with logits, from the last one of the prompt on, or also the prompt's.
enum class Follows { nothing, outputs, all_tokens };

/// A drafter either takes no noticeable time: then draft() does all of its work. Or it computes, in prepare(), the drafts of all
/// texts of a step together.
class Drafter {
public:
    virtual ~Drafter() = default;

    /// At most `most` drafts of the tokens that follow a request's text; none if nothing is likely. Valid until the next call.
    virtual std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                         int32_t most) = 0;

    /// A new request, before its first draft(): what its reply will probably repeat, and the salt of the requests whose texts it may be
    /// drafted from, and which may be drafted from its own (sched::Request::cache_salt); nothing if there are none.
    virtual void begin(base::RequestId, std::span<const base::Token> /*prediction*/,
                       std::optional<std::string_view> /*shared_with*/) {}

    /// Whether draft() would draft nothing for any request.
    virtual bool is_idle() const { return false; }

    /// A request has ended.
    virtual void forget(base::RequestId) {}

    // ---- drafters that take a noticeable time ----

    /// The number of texts that prepare() takes.
    virtual int32_t texts_max() const { return std::numeric_limits<int32_t>::max(); }

    /// The number of drafts of a text in one step.
    virtual int32_t drafts_max() const { return std::numeric_limits<int32_t>::max(); }

    /// Computes at most `most` drafts of each text, at least 1. Until the next call, draft() has these.
    virtual void prepare(std::span<const sched::DecodingText> /*texts*/, int32_t /*most*/) {}

    /// How long the last prepare() took, in milliseconds.
    struct Cost {
        /// Time for drafting; 0 if it only read.
        double drafting_ms = 0;
        /// Time for reading text that the drafter had not followed: a prompt, or text generated while it was not asked. This cost
        /// arises once, whatever the drafts turn out to be worth.
        double reading_ms = 0;
        /// How many drafts were computed one after the other, likely or not.
        int32_t drafts = 1;
    };
    virtual Cost cost() const { return {}; }

    /// Whether it takes about as long to compute one draft as several.
    virtual bool drafts_at_once() const { return false; }

    /// What follow() needs.
    virtual Follows follows() const { return Follows::nothing; }

    /// A step has computed `tokens` of a text, from index `first` on, and these are the model's hidden states at them: equally many for
    /// each token, in their order.
    virtual void follow(base::RequestId, int32_t /*first*/, std::span<const base::Token> /*tokens*/,
                        std::span<const float* const> /*states*/) {}

    /// Any thread: a prepare() in progress ends soon.
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
