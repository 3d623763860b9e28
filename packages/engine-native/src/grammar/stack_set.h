// The states of a grammar from which a text may continue: the core of matching. A state is a stack of elements that are still
// to be matched, and stacks share their lower parts. All work is counted, so that no grammar, however ambiguous, can block the
// engine.
#pragma once

#include "grammar/gbnf.h"
#include "grammar/token_set.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace grammar {

/// Thrown by used_up() to abandon a sampling that will be restarted, or whose result is no longer needed.
struct ShareUsedUp {};

/// How much work a grammar may do at a time, counted in rule calls ("steps"). The caller that samples provides it, and decides what
/// happens when it is used up.
class WorkShare {
public:
    virtual ~WorkShare() = default;

    /// Subtracts steps from the share.
    void use(size_t steps) {
        while (left < steps) {
            steps -= left;
            left = 0;
            used_up();
        }
        left -= steps;
    }

    /// Steps that are left.
    size_t left = 0;

protected:
    /// Called when the share is used up: adds steps to `left`, or throws ShareUsedUp.
    virtual void used_up() = 0;
};

/// Identifies a stack by its top. kEmptyStack has nothing left to match: the text may end there.
using StackId = uint32_t;
inline constexpr StackId kEmptyStack = 0;

/// Distinct stacks that wait for a character or a token, or are empty.
using StackSet = std::vector<StackId>;

class Stacks {
public:
    explicit Stacks(const Rules& rules);

    /// Charges the work to `share` from now on; null charges nobody. After ShareUsedUp, complete sets are unchanged.
    void share_work(WorkShare* share) { share_ = share; }

    /// Counts a look at this many stacks as work.
    void count_look_through(size_t stacks);

    /// Sets `out` to the stacks at the start of the root rule.
    void begin(StackSet& out);

    /// Sets `out` to the stacks that follow after the character. Returns the characters around it that have the same ones.
    CharRange advance(std::span<const StackId> stacks, uint32_t character, StackSet& out);
    /// Sets `out` to the stacks that follow after each of these characters, whichever it is. `characters` are ascending ranges.
    void advance_by_any(std::span<const StackId> stacks, std::span<const CharRange> characters,
                        StackSet& out);
    /// Sets `out` to the stacks that follow after the token, for those that wait for it.
    void advance_by_token(std::span<const StackId> stacks, base::Token token, StackSet& out);

    bool waits_for_token(StackId stack) const;
    /// Adds those of the vocabulary's tokens with text that the stack waits for, if it waits for a token.
    void add_tokens(StackId stack, const TokenSet& with_text, TokenSet& out) const;
    /// Whether the stack accepts any character from `first` to `last`.
    bool accepts_any(StackId stack, uint32_t first, uint32_t last) const;

    /// Call before the next token is chosen: grants more work.
    void start_token();

    /// Drops all stacks but these, whose ids change. Does nothing while there are few. Returns whether ids have changed.
    bool tidy(StackSet& stacks);

    /// Whether the grammar is too ambiguous: it needed more work or memory than allowed. Sets filled since are incomplete.
    bool is_overrun() const { return is_overrun_; }

private:
    struct Node {
        uint32_t element;
        StackId below;
        /// For a repeating element: how often it was matched.
        uint32_t count;
        bool operator==(const Node&) const = default;
    };

    std::span<const CharRange> ranges_of(StackId stack) const;
    bool accepts_all(StackId stack, std::span<const CharRange> characters) const;
    StackId intern(const Node& node);
    void grow_table();
    StackId keep(StackId stack, const std::vector<Node>& old, std::vector<StackId>& renamed);
    /// The stack that continues after the element.
    StackId behind(uint32_t element, StackId below);
    void push_alternatives(uint32_t rule, StackId below);
    void start_set(StackSet& out);
    void resolve(StackSet& out);
    void count(size_t steps);

    const Rules& rules_;
    /// By StackId; the first stands for the empty stack.
    std::vector<Node> nodes_;
    /// Hash table of nodes; 0 is a free entry. Its size is a power of two, and at most half of it is used.
    std::vector<StackId> table_;
    /// For each node, the last set it was added to.
    std::vector<uint32_t> seen_;
    uint32_t set_ = 0;
    /// Stacks that resolve() has not handled yet.
    std::vector<StackId> todo_;
    size_t steps_left_;
    WorkShare* share_ = nullptr;
    size_t tidy_at_;
    bool is_overrun_ = false;
};

} // namespace grammar
