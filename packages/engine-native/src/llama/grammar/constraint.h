// What a reply must look like: a grammar from its beginning on, or from the words on that begin a tool call; and the
// control tokens that belong to its text. Made on a worker thread and shared; each request follows it with a state of
// its own. Used by Sampler.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "llama/grammar/gbnf.h"
#include "llama/grammar/grammar.h"
#include "llama/grammar/pieces.h"

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace llama_rt {

/// Where a grammar begins that does not hold from the reply's beginning: at the first of these.
struct Triggers {
    struct Pattern {
        std::regex regex;
        /// Must match the whole reply so far.
        bool is_whole;
    };
    std::vector<std::string> words = {};
    /// The grammar begins with the first group that matched something, or else with the match.
    std::vector<Pattern> patterns = {};
    std::vector<base::Token> tokens = {};
};

class Grammars;

struct SpelledToken {
    base::Token token;
    std::string text;
};

struct Constraint {
    /// Null where there is no grammar; then there are no triggers either.
    std::shared_ptr<const Rules> rules = nullptr;
    std::shared_ptr<const Pieces> pieces = nullptr;
    /// What of a reply the prompt's end has begun: the grammar knows it already.
    std::string begun = {};
    /// Absent: the grammar holds from the beginning.
    std::optional<Triggers> triggers = std::nullopt;
    /// Control tokens whose text belongs to the reply.
    std::vector<SpelledToken> spelled = {};

    /// A grammar for the whole reply. `invalid_argument` says what is wrong with it.
    static base::Result<std::shared_ptr<const Constraint>> from_grammar(Grammars& grammars,
                                                                        std::string_view text);

    /// As the reply shows it; empty when it does not.
    std::string_view text_of(base::Token token) const;
};

class ConstraintState {
public:
    /// `constraint` has rules.
    explicit ConstraintState(std::shared_ptr<const Constraint> constraint, WorkShare* share = nullptr);

    /// See GrammarState::share_work(): when it throws, nothing has changed.
    void share_work(WorkShare* share) { grammar_.share_work(share); }

    /// Whether the token may come next. Before a trigger, every one may.
    bool allows(base::Token token);

    /// Goes on with a token, allowed or not.
    void accept(base::Token token);

    /// Calls allow(token) for each token that may come next. The grammar holds.
    template <class Allow>
    void for_each_allowed(const Allow& allow) {
        grammar_.for_each_allowed(*constraint_->pieces, allow);
        for (const auto& [token, text] : constraint_->spelled) {
            if (grammar_.allows(token, text)) allow(token);
        }
        if (!grammar_.may_end()) return;
        for (const base::Token end : constraint_->pieces->ends()) allow(end);
    }

    /// The grammar has come to its end: nothing can follow.
    bool is_complete() const { return phase_ == Phase::holding && grammar_.must_end(); }

private:
    enum class Phase {
        /// For a trigger.
        waiting,
        holding,
        /// A trigger came up in a text that is none of the grammar's; the reply is free from then on.
        released,
    };

    void look_for_trigger(base::Token token, std::string_view text);
    /// Where in tail_ the grammar begins; npos when it does not.
    size_t find_trigger() const;
    void begin_at(size_t begin);

    std::shared_ptr<const Constraint> constraint_;
    GrammarState grammar_;
    Phase phase_ = Phase::holding;
    /// The end of the reply, while waiting.
    std::string tail_;
    bool is_tail_whole_ = true;
};

} // namespace llama_rt
