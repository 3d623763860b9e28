// The samplers of one generation in their order, from logits to a token: llama.cpp's chain with the same results, but without building
// a list of the whole vocabulary for each token. Where possible, the arithmetic is llama.cpp's, operation by operation, so that a seed
// gives the same tokens.
#pragma once

#include "base/types.h"
#include "sampling/candidates.h"
#include "sampling/dry.h"
#include "sampling/feedback.h"
#include "sampling/penalties.h"
#include "sampling/pool.h"
#include "sampling/sampling.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace sampling {

/// What samplers need to know of a model.
struct Vocabulary {
    int32_t size;
    /// Tokens that end a reply.
    std::vector<base::Token> ends = {};
    AppendPiece append_piece = {};
};

class Chain {
public:
    /// The penalties and DRY also look at the prompt's last tokens.
    Chain(Vocabulary vocabulary, const Sampling& sampling, std::span<const base::Token> prompt);

    struct Choice {
        base::Token token;
        /// Every other token is banned too if this is false.
        bool is_possible;
    };
    /// Changes `logits` meanwhile and restores them. Leaves the candidates in their list, which is empty if the choice was from the
    /// whole vocabulary.
    Choice choose(std::span<float> logits, Candidates& candidates);
    /// How many of the likeliest tokens are enough to choose the next `tokens` tokens, whatever they are; nothing if all of the
    /// vocabulary is needed. Biases, bans and penalties that only lower logits need one more token for each one that they apply to.
    std::optional<size_t> likeliest_needed(size_t tokens) const;
    /// Chooses as choose() does, from a list of at least likeliest_needed() tokens in any order, with their logits.
    Choice choose_among_likeliest(Candidates& candidates);
    /// Chooses from those that are left in the list; there is at least one.
    base::Token choose_again(Candidates& candidates);

    /// Whether it always chooses the likeliest token.
    bool is_greedy() const { return is_greedy_; }
    /// If it is greedy: sets the list to the likeliest tokens, likeliest first.
    void keep_likeliest(std::span<float> logits, size_t most, Candidates& candidates);

    /// The text goes on with a token, the last choice from these candidates. Everything but chance() stays the same until then.
    void accept(base::Token token, const Candidates& candidates);

    /// The text goes on with a token that was not chosen.
    void take(base::Token token);

    /// What random choices depend on.
    struct Chance {
        std::mt19937 draws;
        /// Only with XTC: for whether it excludes anything, and the number that decides it for the next token.
        std::optional<std::mt19937> exclusions;
        std::optional<float> exclusion;
    };
    const Chance& chance() const { return chance_; }
    void set_chance(const Chance& chance) { chance_ = chance; }

private:
    enum class Step : uint8_t { penalties, dry, top_n_sigma, top_k, typical, top_p, min_p, xtc, temperature };

    bool is_on(Step step) const;
    void plan(const Sampling& sampling);
    void adjust(Pool& pool);
    void cut(Pool& pool);
    Choice choose_from_list(Pool& pool);
    void run(size_t step, Pool& pool);
    float temperature_for(Pool& pool) const;
    bool excludes();
    base::Token draw(std::vector<Candidate>& list);
    double next_random();

    const Vocabulary vocabulary_;
    const Sampling sampling_;
    Penalties penalties_;
    std::optional<Dry> dry_;
    std::optional<Mirostat> mirostat_;
    std::optional<AdaptiveP> adaptive_;
    /// Those that are on, in their order.
    std::vector<Step> steps_;
    bool is_greedy_ = false;
    Chance chance_;
    int32_t generated_ = 0;
};

} // namespace sampling
