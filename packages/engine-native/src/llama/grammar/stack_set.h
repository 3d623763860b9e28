// The places of a grammar at which a text may go on: the heart of matching. A place is a stack of elements that still
// wait to be matched, and stacks share their lower parts. All work is counted, so that no grammar, however ambiguous,
// can hold up the engine. Used by GrammarState.
#pragma once

#include "llama/grammar/gbnf.h"
#include "llama/grammar/work_share.h"

#include <cstdint>
#include <vector>

namespace llama_rt {

/// Names a stack by its top. kEmptyStack waits for nothing: the text may end there.
using StackId = uint32_t;
inline constexpr StackId kEmptyStack = 0;

/// Distinct stacks that wait for a character or a token, or are empty.
using StackSet = std::vector<StackId>;

class Stacks {
public:
    explicit Stacks(const Rules& rules);

    /// Whose share the work is taken off from now on; null for nobody's. What throws out of it changes no set that was
    /// complete before.
    void share_work(WorkShare* share) { share_ = share; }

    /// Counts looking through a set of so many stacks as work.
    void count_look_through(size_t stacks);

    /// The stacks at the beginning of the root rule.
    void begin(StackSet& out);

    /// Where one that accepts the character leads; nothing is added when it does not.
    void advance(StackId stack, uint32_t character, StackSet& out);
    /// The same for a token that the stack's element names or does not name.
    void advance_by_token(StackId stack, base::Token token, StackSet& out);

    bool waits_for_token(StackId stack) const;
    /// Whether any character from `first` to `last` would be accepted.
    bool accepts_any(StackId stack, uint32_t first, uint32_t last) const;

    /// Before a set is filled: what is in it once is not added again.
    void start_set() { set_ += 1; }

    /// Before the next token is chosen: more work may be done.
    void start_token();

    /// Forgets all stacks but these, whose names change. Cheap while there are few.
    void tidy(StackSet& stacks);

    /// The grammar asks for more work than is done for one: it is far too ambiguous. Nothing that was found since is
    /// complete.
    bool is_overrun() const { return is_overrun_; }

private:
    struct Node {
        uint32_t element;
        StackId below;
        /// Of an element that repeats: how often it was matched.
        uint32_t count;
        bool operator==(const Node&) const = default;
    };

    StackId intern(const Node& node);
    void grow_table();
    StackId keep(StackId stack, const std::vector<Node>& old, std::vector<StackId>& renamed);
    /// The stack that goes on behind the element.
    StackId behind(uint32_t element, StackId below);
    void push_alternatives(uint32_t rule, StackId below);
    void resolve(StackSet& out);
    void count(size_t steps);

    const Rules& rules_;
    /// By StackId; the first stands for the empty stack.
    std::vector<Node> nodes_;
    /// Places of nodes by their hash; 0 is free. A power of two, at most half full.
    std::vector<StackId> table_;
    /// For each node, the last set it was added to.
    std::vector<uint32_t> seen_;
    uint32_t set_ = 0;
    /// Stacks that resolve() has yet to look at.
    std::vector<StackId> todo_;
    size_t steps_left_;
    WorkShare* share_ = nullptr;
    size_t tidy_at_;
    bool is_overrun_ = false;
};

} // namespace llama_rt
