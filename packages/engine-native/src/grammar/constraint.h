// What a reply must look like: a grammar that applies from its start or from a trigger, such as the start of a tool call; and the
// control tokens that belong to its text. A Constraint is created on a worker thread and shared; each request has its own
// ConstraintState.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "grammar/gbnf.h"
#include "grammar/grammar.h"
#include "grammar/pieces.h"
#include "grammar/token_set.h"

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace grammar {

/// Starts a grammar that does not apply from the reply's start: the first trigger to appear.
struct Triggers {
    struct Pattern {
        std::regex regex;
        /// Whether it must match the whole reply so far.
        bool is_whole;
    };
    std::vector<std::string> words = {};
    /// The grammar starts at the first group that matched any text, or else at the match.
    std::vector<Pattern> patterns = {};
    std::vector<base::Token> tokens = {};
};

class Grammars;

struct SpelledToken {
    base::Token token;
    std::string text;
};

struct Constraint {
    /// Null without a grammar; then there are no triggers either.
    std::shared_ptr<const Rules> rules = nullptr;
    std::shared_ptr<const Pieces> pieces = nullptr;
    /// The start of the reply that is already in the prompt; the grammar covers it.
    std::string begun = {};
    /// Absent: the grammar applies from the start.
    std::optional<Triggers> triggers = std::nullopt;
    /// Control tokens whose text belongs to the reply.
    std::vector<SpelledToken> spelled = {};

    /// A constraint of the whole reply, from a GBNF grammar. `invalid_argument` says what is wrong with it.
    static base::Result<std::shared_ptr<const Constraint>> from_grammar(Grammars& grammars,
                                                                        std::string_view text);

    /// The token's text in the reply; empty if it has none there.
    std::string_view text_of(base::Token token) const;
};

class ConstraintState {
public:
    /// `constraint` must have rules.
    explicit ConstraintState(std::shared_ptr<const Constraint> constraint, WorkShare* share = nullptr);

    /// See GrammarState::share_work(). After ShareUsedUp, the state is unchanged.
    void share_work(WorkShare* share) { grammar_.share_work(share); }

    /// Whether the token may come next. Before a trigger, every token may.
    bool allows(base::Token token);

    /// Advances by a token, whether it is allowed or not.
    void accept(base::Token token);

    /// Sets `allowed` to the tokens that may come next. Only while the grammar applies.
    void find_allowed(TokenSet& allowed);

    /// Whether the grammar is complete: nothing can follow.
    bool is_complete() const { return phase_ == Phase::holding && grammar_.must_end(); }

private:
    enum class Phase {
        /// No trigger has appeared yet.
        waiting,
        holding,
        /// A trigger appeared, but the text after it does not match the grammar; the rest of the reply is free.
        released,
    };

    void look_for_trigger(base::Token token, std::string_view text);
    /// Where in tail_ the grammar starts; npos without a trigger.
    size_t find_trigger() const;
    void begin_at(size_t begin);

    std::shared_ptr<const Constraint> constraint_;
    GrammarState grammar_;
    Phase phase_ = Phase::holding;
    /// The end of the reply, while waiting.
    std::string tail_;
    bool is_tail_whole_ = true;
};

} // namespace grammar
