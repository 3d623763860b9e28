// Learns from how long steps take on this machine with this model: what a step costs (StepCost), and how much prefill fits beside
// decoding sequences (PrefillBudget). Pure arithmetic; the engine's thread measures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace engine {

/// How long a step without prefill takes by the number of its tokens: on a GPU eight tokens cost as much as one, on two cores three
/// times as much.
class StepCost {
public:
    /// Steps with more tokens are neither learned nor estimated.
    static constexpr int32_t kTokensMax = 64;

    /// A step of `tokens` tokens took `ms`.
    void observe(int32_t tokens, double ms);

    /// Whether steps with this many tokens were seen recently.
    bool is_known(int32_t tokens) const;

    /// Milliseconds of a step with this many tokens (at least 1): as seen, or estimated from steps with fewer and with more
    /// tokens. Infinite beyond kTokensMax or if nothing is known.
    double ms(int32_t tokens) const;

private:
    struct Seen {
        /// Moving average in which longer steps count less than shorter ones; 0 if never seen.
        double ms = 0;
        uint64_t step = 0;
    };

    std::array<Seen, static_cast<size_t>(kTokensMax) + 1> seen_;
    uint64_t steps_ = 0;
};

/// A device may return from a step before it has computed it. The next step that waits for its logits takes that time too, so it
/// is counted together with the steps before it.
class UnfinishedSteps {
public:
    struct Computed {
        int32_t prompt;
        double ms;
    };

    /// A step with `prompt` prompt tokens returned after `ms`. Returns the steps that are computed by now, or nothing if this one
    /// returned before it was computed.
    std::optional<Computed> add(int32_t prompt, double ms, bool is_computed);

private:
    Computed unfinished_{.prompt = 0, .ms = 0};
};

/// The step budget of chunked prefill: how many prompt tokens a step may compute beside decoding sequences without slowing them
/// down too much.
class PrefillBudget {
public:
    /// A step holds at most `tokens_max` tokens.
    explicit PrefillBudget(int32_t tokens_max) : tokens_max_(tokens_max) {}

    /// A step took `ms`: it computed `decoding` tokens of decoding sequences and `prompt` tokens of prompts.
    void observe(int32_t decoding, int32_t prompt, double ms);

    /// Prompt tokens for the next step, if `decoding` sequences decode and `waiting` requests wait for their first token.
    /// `between_ms` is time spent between two steps, on a piece of an image's encoding. The number stays the same while a new one
    /// would be close: steps of equal shape reuse the previous step's graph.
    int32_t tokens(int32_t decoding, int32_t waiting, double between_ms = 0);

    /// The average duration of a step that only decodes; 0 while nothing is known.
    double decoding_step_ms() const { return decoding_step_ms_; }
    /// The average duration of a token of a prompt; 0 while nothing is known.
    double prompt_token_ms() const { return prompt_token_ms_; }

private:
    const int32_t tokens_max_;
    /// Moving averages; 0 while nothing is known. Longer decoding steps count less than shorter ones.
    double decoding_step_ms_ = 0;
    double prompt_token_ms_ = 0;
    /// The last result of tokens().
    int32_t tokens_ = 0;
};

/// Whether copying evicted state to host memory pays: what copying a token takes, against computing it again.
class CopyCost {
public:
    /// Copying the state of `tokens` tokens took `ms`.
    void observe(int32_t tokens, double ms);

    /// `prompt_token_ms` is what computing a token of a prompt takes; 0 if that is not known. True while nothing is known.
    bool pays(double prompt_token_ms) const;

private:
    /// Moving average; 0 while nothing is known.
    double token_ms_ = 0;
};

} // namespace engine
