// Finds all tokens of a vocabulary that a grammar allows next: its mask. The tree of the tokens' texts is walked once, together with
// the grammar's states. Where a state takes any plain characters, as in the middle of a string, all tokens of plain characters
// below are allowed without a look at them.
#pragma once

#include "grammar/automaton.h"
#include "grammar/stack_set.h"
#include "grammar/token_set.h"
#include "grammar/token_trie.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace grammar {

class MaskWalk {
public:
    /// Starts from a set of stacks and adds to `allowed`. `automaton` knows only states of these `stacks`.
    MaskWalk(Stacks& stacks, Automaton& automaton, const StackSet& start, TokenSet& allowed);

    /// Adds the allowed tokens among these.
    void add(const TokenTrie& trie);

private:
    using StateId = Automaton::StateId;

    bool enters(const TokenTrie::Node& node);
    StateId follow(size_t depth, uint32_t character);
    bool accepts_any(size_t depth, uint32_t first, uint32_t last);
    std::span<const StackId> stacks_at(size_t depth) const;
    uint32_t plain_run(StateId state);
    uint32_t find_plain_run(StateId state);
    StateId after_plain(StateId state);

    Stacks& stacks_;
    Automaton& automaton_;
    TokenSet& allowed_;
    /// The state after each character on the path to a node; of a set that is no state, its stacks are in `sets_`.
    std::vector<StateId> states_;
    std::vector<StackSet> sets_;
};

} // namespace grammar
