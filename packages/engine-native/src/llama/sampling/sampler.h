// Chooses the next token of one generation: llama.cpp's sampler chain (biases, penalties, top-k, top-p, min-p, temperature,
// draw) with the same results, but without building a list of the whole vocabulary for each token. Where possible, the
// arithmetic is llama.cpp's, operation by operation, so that a seed gives the same tokens.
#pragma once

#include "base/fields.h"
#include "base/types.h"
#include "llama/grammar/constraint.h"
#include "llama/sampling/candidates.h"
#include "llama/sampling/logit_adjustments.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <vector>

namespace llama_rt {

class Model;

/// The sampling options of a request, already validated.
struct Sampling {
    /// 0: always choose the likeliest token.
    float temperature;
    /// 0: off.
    int32_t top_k;
    /// 1: off.
    float top_p;
    /// 0: off.
    float min_p;
    /// 1: off.
    float repeat_penalty;
    /// How many of the last tokens the three penalties apply to; 0: off.
    int32_t repeat_last_n;
    float presence_penalty;
    float frequency_penalty;
    uint32_t seed;
    std::vector<llama_logit_bias> logit_bias;
};

constexpr auto fields_of(const Sampling*) {
    constexpr base::Rule<float> kAboveZero{.min = std::numeric_limits<float>::denorm_min()};
    return std::tuple(base::field("temperature", &Sampling::temperature),
                      base::field("topK", &Sampling::top_k, {.min = 0}),
                      base::field("topP", &Sampling::top_p), base::field("minP", &Sampling::min_p),
                      base::field("repeatPenalty", &Sampling::repeat_penalty, kAboveZero),
                      base::field("repeatLastN", &Sampling::repeat_last_n, {.min = 0, .max = 1 << 20}),
                      base::field("presencePenalty", &Sampling::presence_penalty),
                      base::field("frequencyPenalty", &Sampling::frequency_penalty),
                      base::field("seed", &Sampling::seed), base::field("logitBias", &Sampling::logit_bias));
}

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
    /// `ignore_eos` bans every token that ends a generation. The penalties also apply to the prompt's last tokens. `constraint`
    /// may be null.
    Sampler(const Model& model, const Sampling& sampling, bool ignore_eos,
            const std::vector<base::Token>& prompt, std::shared_ptr<const Constraint> constraint = nullptr);
    Sampler(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt,
            std::shared_ptr<const Constraint> constraint = nullptr);

    /// Chooses the next token. Changes `logits` meanwhile and restores them; overwrites `candidates`. Never chooses a token whose
    /// logit is NaN if there is another. Charges the work of following a constraint to `share`, if given; if that throws
    /// ShareUsedUp, nothing has changed.
    base::Token sample(float* logits, Candidates& candidates, WorkShare* share = nullptr);

    /// Whether the reply may continue after the last token.
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
    /// Null without a constraint.
    std::shared_ptr<const Constraint> wanted_;
    /// Created with the first token, because creating it is work that is charged to a share.
    std::optional<ConstraintState> constraint_;
    Continuation continuation_ = Continuation::open;
};

} // namespace llama_rt
