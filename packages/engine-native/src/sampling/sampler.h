// Chooses the next token of one generation: by its chain of samplers, and among the tokens that its constraint allows.
#pragma once

#include "base/types.h"
#include "grammar/constraint.h"
#include "sampling/candidates.h"
#include "sampling/chain.h"
#include "sampling/sampling.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sampling {

/// Whether a constraint allows a reply to continue.
enum class Continuation {
    open,
    /// The last token completed the grammar.
    complete,
    /// The grammar allows no token of this vocabulary (or only banned ones), or is too ambiguous to follow. The last token is
    /// not part of the reply.
    blocked,
};

/// With a constraint, a token is first drawn as without one, and only that token is checked. If it is refused, the next draw is
/// among the allowed ones of the same candidates; the result has the unconstrained distribution, restricted to allowed tokens.
/// Only if none of the candidates is allowed, the whole vocabulary is searched.
class Sampler {
public:
    /// `constraint` may be null.
    Sampler(Vocabulary vocabulary, const Sampling& sampling, std::span<const base::Token> prompt,
            std::shared_ptr<const grammar::Constraint> constraint = nullptr);

    /// Chooses the next token. Changes `logits` meanwhile and restores them; overwrites `candidates`. Never chooses a token whose
    /// logit is NaN if there is another. Charges the work of following a constraint to `share`, if given; if that throws
    /// ShareUsedUp, nothing has changed.
    base::Token sample(float* logits, Candidates& candidates, grammar::WorkShare* share = nullptr);

    /// How many of the likeliest tokens are enough for the next `tokens` calls of sample_among_likeliest(); nothing if sample() is needed.
    std::optional<size_t> likeliest_needed(size_t tokens) const;

    /// Chooses the token that sample() would, from a list of at least likeliest_needed() tokens in any order, with their logits.
    /// Only equal logits may be told apart differently.
    base::Token sample_among_likeliest(Candidates& candidates);

    /// The reply goes on with this token, whatever the logits are. False, with nothing changed, if the constraint does not allow it.
    /// Charges work as sample() does.
    bool take(base::Token token, grammar::WorkShare* share = nullptr);

    /// Whether the reply may continue after the last token.
    Continuation continuation() const { return continuation_; }

private:
    base::Token sample_under_constraint(std::span<float> logits, Candidates& candidates,
                                        grammar::WorkShare* share);
    base::Token choose_allowed(std::span<float> logits, Candidates& candidates);
    base::Token choose_from_all_allowed(std::span<const float> logits, Candidates& candidates);
    bool is_allowed(const Candidate& candidate);
    void follow(base::Token token);

    size_t vocabulary_size_;
    Chain chain_;
    /// Null without a constraint.
    std::shared_ptr<const grammar::Constraint> wanted_;
    /// Created with the first token, because creating it is work that is charged to a share.
    std::optional<grammar::ConstraintState> constraint_;
    Continuation continuation_ = Continuation::open;
};

} // namespace sampling
