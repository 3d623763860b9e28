// Chooses the next token of one generation: by its chain of samplers, and among the tokens that its constraint allows.
#pragma once

#include "base/types.h"
#include "llama/grammar/constraint.h"
#include "llama/sampling/candidates.h"
#include "llama/sampling/chain.h"
#include "llama/sampling/sampling.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace llama_rt {

class Model;

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
    /// `ignore_eos` bans every token that ends a generation. `constraint` may be null. `model` must outlive this.
    Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
            const std::vector<base::Token>& prompt, std::shared_ptr<const Constraint> constraint = nullptr);
    Sampler(Vocabulary vocabulary, const Sampling& sampling, std::span<const base::Token> prompt,
            std::shared_ptr<const Constraint> constraint = nullptr);

    /// Chooses the next token. Changes `logits` meanwhile and restores them; overwrites `candidates`. Never chooses a token whose
    /// logit is NaN if there is another. Charges the work of following a constraint to `share`, if given; if that throws
    /// ShareUsedUp, nothing has changed.
    base::Token sample(float* logits, Candidates& candidates, WorkShare* share = nullptr);

    /// Whether the reply may continue after the last token.
    Continuation continuation() const { return continuation_; }

private:
    base::Token sample_under_constraint(std::span<float> logits, Candidates& candidates, WorkShare* share);
    base::Token choose_allowed(std::span<float> logits, Candidates& candidates);
    base::Token choose_from_all_allowed(std::span<const float> logits, Candidates& candidates);
    bool is_allowed(const Candidate& candidate);
    void follow(base::Token token);

    size_t vocabulary_size_;
    Chain chain_;
    /// Null without a constraint.
    std::shared_ptr<const Constraint> wanted_;
    /// Created with the first token, because creating it is work that is charged to a share.
    std::optional<ConstraintState> constraint_;
    Continuation continuation_ = Continuation::open;
};

} // namespace llama_rt
