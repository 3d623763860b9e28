// What is known of a grammar's states while its masks are computed: which state follows which after a character. A state here is
// a set of stacks. Within a text, the same few states return with each character, so that nearly every character is one look-up
// in a table. Filled by MaskWalk; belongs to one request.
#pragma once

#include "grammar/gbnf.h"
#include "grammar/stack_set.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace grammar {

class Automaton {
public:
    using StateId = uint16_t;
    /// The state of the empty set, from which nothing is allowed.
    static constexpr StateId kDead = 0;
    /// Not looked for yet.
    static constexpr StateId kUnknown = 0xFFFF;
    /// A set that is not kept as a state, because there are enough.
    static constexpr StateId kNone = 0xFFFE;

    /// How many plain characters a state takes for sure, at most kPlainLongest.
    static constexpr uint8_t kUnknownRun = 0xFF;

    /// Makes room for the states of another mask: forgets all states if they fill half of it.
    void make_room();

    /// Forgets all states.
    void clear();

    /// The state of this set; kNone if it is not known and there is no room for it.
    StateId state_of(StackSet& stacks);

    std::span<const StackId> stacks(StateId state) const {
        const State& of = states_[state];
        return std::span(stacks_).subspan(of.begin, of.count);
    }

    /// The state after the character; kUnknown if it was not noted.
    StateId next(StateId from, uint32_t character) const {
        const State& state = states_[from];
        if (character < kAscii) return state.after_ascii[character];
        const Wide* wide = wide_of(state, character);
        return wide == nullptr ? kUnknown : wide->next;
    }

    /// Whether no character of a range is allowed, as far as is noted.
    bool forbids(StateId from, uint32_t first, uint32_t last) const {
        const Wide* wide = wide_of(states_[from], first);
        return wide != nullptr && wide->next == kDead && last <= wide->last;
    }

    /// Notes the state after each of these characters.
    void note(StateId from, CharRange characters, StateId next);

    /// The state after a plain character, whichever it is; kDead if not all of them are allowed.
    StateId after_plain(StateId state) const { return states_[state].after_plain; }
    void note_after_plain(StateId state, StateId next) { states_[state].after_plain = next; }

    uint8_t plain_run(StateId state) const { return states_[state].plain_run; }
    void note_plain_run(StateId state, uint8_t run) { states_[state].plain_run = run; }

private:
    static constexpr uint32_t kAscii = 0x80;

    /// Characters beyond ASCII that have the same next state.
    struct Wide {
        uint32_t first;
        uint32_t last;
        StateId next;
    };

    struct State {
        std::array<StateId, kAscii> after_ascii;
        std::vector<Wide> wide;
        /// Its part of `stacks_`.
        uint32_t begin;
        uint32_t count;
        StateId after_plain;
        uint8_t plain_run;
    };

    static const Wide* wide_of(const State& state, uint32_t character) {
        for (const Wide& wide : state.wide) {
            if (wide.first <= character && character <= wide.last) return &wide;
        }
        return nullptr;
    }

    StateId add(const StackSet& stacks);

    std::vector<State> states_;
    std::vector<StackId> stacks_;
    /// By hash of its stacks, the last state with that hash.
    std::unordered_map<uint64_t, StateId> by_hash_;
};

} // namespace grammar
