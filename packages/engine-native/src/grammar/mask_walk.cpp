#include "grammar/mask_walk.h"

#include <algorithm>

namespace grammar {

MaskWalk::MaskWalk(Stacks& stacks, Automaton& automaton, const StackSet& start, TokenSet& allowed)
    : stacks_(stacks), automaton_(automaton), allowed_(allowed), states_(1), sets_(1, start) {
    automaton_.make_room();
    states_.front() = automaton_.state_of(sets_.front());
}

/// How many plain characters the state takes for sure, whichever they are; at most kPlainLongest.
inline uint32_t MaskWalk::plain_run(StateId state) {
    if (state == Automaton::kNone) return 0;
    const uint8_t known = automaton_.plain_run(state);
    return known != Automaton::kUnknownRun ? known : find_plain_run(state);
}

/// Whether the node's character, or any that has its bytes, is allowed. Finds the state after a whole character.
inline bool MaskWalk::enters(const TokenTrie::Node& node) {
    if (node.missing > 0) return accepts_any(node.depth, node.first, node.last());
    const StateId from = states_[node.depth];
    StateId to = from == Automaton::kNone ? Automaton::kUnknown : automaton_.next(from, node.first);
    if (to == Automaton::kUnknown) to = follow(node.depth, node.first);
    states_[node.depth + 1] = to;
    return to != Automaton::kDead;
}

void MaskWalk::add(const TokenTrie& trie) {
    if (trie.height() <= plain_run(states_.front())) {
        allowed_.add(trie.all());
        return;
    }
    states_.resize(std::max(states_.size(), trie.levels() + 1));
    sets_.resize(states_.size());
    const std::span<const TokenTrie::Node> nodes = trie.nodes();
    const std::span<const base::Token> tokens = trie.tokens();
    size_t visited = 0;
    for (size_t i = 0; i + 1 < nodes.size(); ++visited) {
        const TokenTrie::Node node = nodes[i];
        if (!enters(node)) {
            i = node.end;
            continue;
        }
        const bool allows_all = node.missing == 0 && node.height <= plain_run(states_[node.depth + 1]);
        i = allows_all ? node.end : i + 1;
        for (const base::Token token : tokens.subspan(node.tokens, nodes[i].tokens - node.tokens))
            allowed_.add(token);
    }
    stacks_.count_look_through(visited);
}

MaskWalk::StateId MaskWalk::follow(size_t depth, uint32_t character) {
    StackSet& set = sets_[depth + 1];
    const CharRange alike = stacks_.advance(stacks_at(depth), character, set);
    if (stacks_.is_overrun()) return Automaton::kDead;
    const StateId to = automaton_.state_of(set);
    if (states_[depth] != Automaton::kNone && to != Automaton::kNone)
        automaton_.note(states_[depth], alike, to);
    return to;
}

bool MaskWalk::accepts_any(size_t depth, uint32_t first, uint32_t last) {
    const StateId from = states_[depth];
    if (from != Automaton::kNone) {
        StateId next = automaton_.next(from, first);
        if (next == Automaton::kUnknown) next = follow(depth, first);
        if (next != Automaton::kDead) return true;
        if (automaton_.forbids(from, first, last)) return false;
    }
    const std::span<const StackId> stacks = stacks_at(depth);
    stacks_.count_look_through(stacks.size());
    return std::ranges::any_of(stacks,
                               [&](StackId stack) { return stacks_.accepts_any(stack, first, last); });
}

std::span<const StackId> MaskWalk::stacks_at(size_t depth) const {
    if (states_[depth] == Automaton::kNone) return sets_[depth];
    return automaton_.stacks(states_[depth]);
}

uint32_t MaskWalk::find_plain_run(StateId state) {
    uint32_t run = 0;
    for (StateId at = state; run < kPlainLongest;) {
        const StateId next = after_plain(at);
        if (next == Automaton::kDead || next == Automaton::kNone) break;
        run = next == at ? kPlainLongest : run + 1;
        at = next;
    }
    automaton_.note_plain_run(state, static_cast<uint8_t>(run));
    return run;
}

MaskWalk::StateId MaskWalk::after_plain(StateId state) {
    if (const StateId known = automaton_.after_plain(state); known != Automaton::kUnknown) return known;
    StackSet set;
    stacks_.advance_by_any(automaton_.stacks(state), kPlain, set);
    if (stacks_.is_overrun()) return Automaton::kDead;
    const StateId next = automaton_.state_of(set);
    automaton_.note_after_plain(state, next);
    return next;
}

} // namespace grammar
