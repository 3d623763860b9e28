// How the next token is chosen, for one generation: llama.cpp's own chain (biases, penalties, top-k, top-p, min-p,
// temperature, draw) with the same results, but without a list of the whole vocabulary for each token. Where that
// leaves a choice, the arithmetic is llama.cpp's, operation by operation, so that a seed gives the same tokens.
#pragma once

#include "base/types.h"
#include "llama/grammar/constraint.h"
#include "llama/grammar/work_share.h"
#include "llama/sampling/adjustments.h"
#include "llama/sampling/candidates.h"
#include "llama/sampling/sampling.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace llama_rt {

class Model;

/// Whether a constraint lets a reply go on.
enum class Continuation {
    open,
    /// The grammar has come to its end with the last token.
    complete,
    /// The grammar allows no token of this vocabulary (or none that is not banned), or is too ambiguous to be followed.
    /// The last token is none of the reply.
    blocked,
};

/// With a constraint, a token is drawn as without one, and only this one is looked at. Where it is refused, the next
/// draw is among those of the same candidates that are allowed: together that is the distribution without constraint,
/// restricted to what is allowed. Only when none of the candidates is allowed are others looked for, in the whole
/// vocabulary.
class Sampler {
public:
    /// `ignore_eos` bans every token that ends a generation. The penalties look at the prompt's last tokens too.
    /// `constraint` may be null.
    Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
            const std::vector<base::Token>& prompt, std::shared_ptr<const Constraint> constraint = nullptr);
    Sampler(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt,
            std::shared_ptr<const Constraint> constraint = nullptr);

    /// The next token after these logits, which are changed meanwhile, and as they were on return. `candidates` is
    /// overwritten. Logits that are not a number are never chosen while there is another.
    /// With `share`, the work of following a constraint is taken off it; when that throws ShareUsedUp, nothing has changed.
    base::Token sample(float* logits, Candidates& candidates, WorkShare* share = nullptr);

    /// After the last token.
    Continuation continuation() const { return continuation_; }

private:
    base::Token sample_under_constraint(std::span<float> logits, Candidates& candidates, WorkShare* share);
    base::Token choose(std::span<const float> logits, Candidates& candidates);
    base::Token choose_allowed(std::span<const float> logits, Candidates& candidates);
    base::Token choose_from_all_allowed(std::span<const float> logits, Candidates& candidates);
    bool is_allowed(const Candidate& candidate);
    void follow(base::Token token);
    double next_random();
    base::Token draw(std::span<const float> logits, Candidates& candidates);
    void keep_likely(std::span<const float> logits, float highest, Candidates& candidates) const;

    int32_t vocabulary_size_;
    float temperature_;
    int32_t top_k_;
    float top_p_;
    float min_p_;
    Adjustments adjustments_;
    std::mt19937 random_;
    /// Null without one.
    std::shared_ptr<const Constraint> wanted_;
    /// Begun with the first token: even that is work.
    std::optional<ConstraintState> constraint_;
    Continuation continuation_ = Continuation::open;
};

} // namespace llama_rt
