// Which tokens lie computed in the context's cells, and which sequences hold them.
//
// A radix tree: each node is a run of tokens with one cell each, and its path from the root is the text before it.
// Every sequence (its slot) holds the nodes on the path to its own tail; llama.cpp keeps a cell as long as one
// sequence holds it, and so do we a node:
//
//     root ── "You are a helpful …" ──┬── "What is 2+2?" ── "4"          held by slot 0
//             held by slots 0, 1, 2   ├── "Tell me a story"              held by slot 1
//                                     └── "What is the capital …"        held by slot 2
//
// Two sequences that computed the same tokens side by side have two nodes of the same text: the tree is about cells,
// not about texts. Pinned slots are those that run; what only others hold can be freed.
//
// Cells that were moved to other positions are a tail of their own: they were computed after a text that is gone, so
// they are not what anybody else's tokens would give there, and nothing is ever matched with them.
#pragma once

#include "base/types.h"
#include "sched/turns.h"

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sched {

class PrefixTree {
public:
    explicit PrefixTree(int32_t slots);
    ~PrefixTree();
    PrefixTree(const PrefixTree&) = delete;
    PrefixTree& operator=(const PrefixTree&) = delete;

    struct Match {
        int32_t length = 0;
        /// A slot that holds all of it; kNoSlot when length is 0.
        base::Slot holder = base::kNoSlot;
        /// The state saved there; 0 when nobody asked for one.
        base::CheckpointId checkpoint = 0;
    };

    /// The longest beginning of `tokens` that is there.
    Match longest(std::span<const base::Token> tokens) const;

    /// The longest beginning of `tokens` that is there and ends in a checkpoint.
    Match longest_checkpoint(std::span<const base::Token> tokens) const;

    /// The state of `slot` is saved where it stands now.
    void mark(base::Slot slot, base::CheckpointId checkpoint);
    bool is_marked(base::Slot slot) const;

    /// A checkpoint was of use: it is the last to be given up.
    void touch(base::CheckpointId checkpoint);
    /// Gives up a checkpoint, if it is there.
    void forget(base::CheckpointId checkpoint);
    /// Gives up the checkpoint that was longest of no use.
    void forget_oldest_checkpoint();
    int32_t checkpoints() const { return static_cast<int32_t>(marked_.size()); }

    /// Checkpoints that went with their cells or were forgotten since the last call.
    std::vector<base::CheckpointId> take_dropped() { return std::exchange(dropped_, {}); }

    /// Lets `slot`, which must hold nothing, hold what was matched.
    void share(base::Slot slot, const Match& match);

    /// `slot` has computed these tokens after what it holds.
    void append(base::Slot slot, std::span<const base::Token> tokens);

    /// `slot` lets go of everything; it must not be pinned.
    void release(base::Slot slot);

    /// `slot` lets go of what it holds beyond `length`.
    void truncate(base::Slot slot, int32_t length);

    /// `slot` lets go of a part of what it holds; what follows, which must be its own, becomes a moved tail.
    void shift(base::Slot slot, const Cut& cut);

    /// Other slots that hold cells of this one's beyond `length`.
    std::vector<base::Slot> sharers(base::Slot slot, int32_t length) const;

    /// A pinned slot's cells cannot be freed. Both are told in turn.
    void pin(base::Slot slot);
    void unpin(base::Slot slot);
    bool is_pinned(base::Slot slot) const { return held_[static_cast<size_t>(slot)].is_pinned; }

    /// Tokens that a slot holds.
    int32_t length(base::Slot slot) const { return held_[static_cast<size_t>(slot)].length; }

    /// Tokens that a slot holds before its moved tail, if it has one.
    int32_t unmoved_length(base::Slot slot) const;
    bool has_moved(base::Slot slot) const { return unmoved_length(slot) < length(slot); }

    /// Tokens at the end of what a slot holds that no other slot holds.
    int32_t private_length(base::Slot slot) const;

    /// What a slot holds, token by token.
    std::vector<base::Token> text(base::Slot slot) const;

    struct Checkpoint {
        int32_t length;
        base::CheckpointId checkpoint;
    };
    /// The states saved on a slot's way, the shortest first.
    std::vector<Checkpoint> checkpoints_of(base::Slot slot) const;
    /// Where the last of them is that a slot's first `length` tokens have; 0 without.
    int32_t checkpoint_before(base::Slot slot, int32_t length) const;

    /// Cells in use, and how many of them pinned slots hold.
    int32_t cells() const { return cells_; }
    int32_t cells_pinned() const { return cells_pinned_; }

private:
    struct Node;
    struct Held {
        Node* tail;
        int32_t length = 0;
        bool is_pinned = false;
    };

    template <class Visit>
    void walk(std::span<const base::Token> tokens, Visit visit) const;
    void unmark(Node* node);
    Node* split(Node* node, size_t at);
    void hold(Node* node, base::Slot slot);
    void let_go_of_tail(base::Slot slot);
    Node* add_tail(base::Slot slot, std::vector<base::Token> tokens);
    Held& held(base::Slot slot) { return held_[static_cast<size_t>(slot)]; }

    std::unique_ptr<Node> root_;
    std::vector<Held> held_;
    /// Nodes that end in a checkpoint, least recently used first.
    std::list<Node*> marked_;
    std::vector<base::CheckpointId> dropped_;
    int32_t cells_ = 0;
    int32_t cells_pinned_ = 0;
};

} // namespace sched
