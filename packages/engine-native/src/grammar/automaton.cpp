#include "grammar/automaton.h"

#include <algorithm>

namespace grammar {

namespace {

/// Maximum number of states, about 300 bytes each, and of the stacks in them: together less than a megabyte per request. A mask of
/// JSON needs a few dozen states; of a thousand alternatives, each of them is a stack.
constexpr size_t kStatesMax = 2'048;
constexpr size_t kStacksMax = size_t{1} << 16;

/// Maximum number of ranges noted beyond ASCII. Looking for them takes longer than following a stack if there are many.
constexpr size_t kWideMax = 16;

uint64_t hash_of(const StackSet& stacks) {
    uint64_t hash = stacks.size();
    for (const StackId stack : stacks) {
        hash = (hash ^ stack) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

} // namespace

void Automaton::make_room() {
    if (states_.empty() || states_.size() > kStatesMax / 2 || stacks_.size() > kStacksMax / 2) clear();
}

void Automaton::clear() {
    states_.clear();
    stacks_.clear();
    by_hash_.clear();
    const StateId dead = add({});
    states_[dead].after_ascii.fill(kDead);
    states_[dead].plain_run = 0;
}

Automaton::StateId Automaton::state_of(StackSet& stacks) {
    if (stacks.empty()) return kDead;
    std::ranges::sort(stacks);
    const uint64_t hash = hash_of(stacks);
    const auto known = by_hash_.find(hash);
    if (known != by_hash_.end() && std::ranges::equal(this->stacks(known->second), stacks))
        return known->second;
    if (states_.size() >= kStatesMax || stacks_.size() + stacks.size() > kStacksMax) return kNone;
    const StateId state = add(stacks);
    by_hash_[hash] = state;
    return state;
}

Automaton::StateId Automaton::add(const StackSet& stacks) {
    State state{.after_ascii = {},
                .wide = {},
                .begin = static_cast<uint32_t>(stacks_.size()),
                .count = static_cast<uint32_t>(stacks.size()),
                .after_plain = kUnknown,
                .plain_run = kUnknownRun};
    state.after_ascii.fill(kUnknown);
    stacks_.insert(stacks_.end(), stacks.begin(), stacks.end());
    states_.push_back(std::move(state));
    return static_cast<StateId>(states_.size() - 1);
}

void Automaton::note(StateId from, CharRange characters, StateId next) {
    State& state = states_[from];
    for (uint32_t character = characters.first; character <= std::min(characters.last, kAscii - 1);
         ++character)
        state.after_ascii[character] = next;
    if (characters.last >= kAscii && state.wide.size() < kWideMax)
        state.wide.push_back(
            {.first = std::max(characters.first, kAscii), .last = characters.last, .next = next});
}

} // namespace grammar
