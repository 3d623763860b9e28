// Tracks which tokens are computed in the KV cache, and which sequences hold their cells.
//
// A radix tree: each node is a run of tokens with one cell each, and the path to it is the text before them. Every sequence
// (its slot) holds the nodes on the path to its tail. llama.cpp keeps a cell as long as one sequence holds it, and the tree
// keeps a node as long:
//
//     root ── "You are a helpful …" ──┬── "What is 2+2?" ── "4"          held by slot 0
//             held by slots 0, 1, 2   ├── "Tell me a story"              held by slot 1
//                                     └── "What is the capital …"        held by slot 2
//
// Two sequences that computed the same tokens side by side have two nodes with the same text: the tree is about cells, not
// about texts. Slots of running sequences are pinned; cells that only other slots hold can be freed.
//
// State is shared within a space only (Request::space()), so each space has a root of its own.
//
// A checkpoint marks a node at whose end a sequence's recurrent state was saved.
//
// Cells that were moved to other positions form a separate tail. They were computed after a text that has been dropped, so
// another sequence with the same tokens would compute something else: they never match.
#pragma once

#include "base/types.h"
#include "sched/radix_tree.h"
#include "sched/step.h"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
        /// A slot that holds all of it; kNoSlot if length is 0.
        base::Slot holder = base::kNoSlot;
        /// Set by longest_checkpoint() only.
        base::CheckpointId checkpoint = 0;
    };

    /// The longest prefix of `text` in the tree, cut at an image's edge.
    Match longest(const Text& text) const;

    /// The longest prefix of `text` in the tree that ends in a checkpoint.
    Match longest_checkpoint(const Text& text) const;

    /// Marks what `slot` holds now as saved in `checkpoint`.
    void mark(base::Slot slot, base::CheckpointId checkpoint);
    bool is_marked(base::Slot slot) const;

    /// Makes a checkpoint the most recently used.
    void touch(base::CheckpointId checkpoint);
    /// Drops a checkpoint, if it exists.
    void forget(base::CheckpointId checkpoint);
    /// Drops the least recently used checkpoint.
    void forget_oldest_checkpoint();
    int32_t checkpoints() const { return static_cast<int32_t>(marked_.size()); }

    /// Checkpoints dropped since the last call, including those dropped with their cells.
    std::vector<base::CheckpointId> take_dropped() { return std::exchange(dropped_, {}); }

    /// From now on, what `slot`, which holds nothing, computes or shares is of this space; until release(), after which it is of
    /// none.
    void begin(base::Slot slot, std::string_view space);

    /// Makes `slot`, which holds nothing, hold the match in its space.
    void share(base::Slot slot, const Match& match);

    /// Adds tokens that `slot` has computed after what it holds.
    void append(base::Slot slot, std::span<const base::Token> tokens);

    /// Frees everything that `slot`, which is not pinned, holds.
    void release(base::Slot slot);

    /// Frees what `slot` holds beyond `length`.
    void truncate(base::Slot slot, int32_t length);

    /// Frees a part of what `slot` holds. What follows, which no other slot holds, becomes a moved tail.
    void shift(base::Slot slot, const Cut& cut);

    /// The other slots that hold cells of `slot` beyond `length`.
    std::vector<base::Slot> sharers(base::Slot slot, int32_t length) const;

    /// A pinned slot's cells cannot be freed. Calls of pin and unpin alternate.
    void pin(base::Slot slot);
    void unpin(base::Slot slot);
    bool is_pinned(base::Slot slot) const { return held(slot).is_pinned; }

    /// Tokens that a slot holds.
    int32_t length(base::Slot slot) const { return held(slot).length; }

    /// Tokens that a slot holds before its moved tail; all of them if it has none.
    int32_t unmoved_length(base::Slot slot) const;
    bool has_moved(base::Slot slot) const { return unmoved_length(slot) < length(slot); }

    /// How many tokens at a slot's end no other slot holds.
    int32_t private_length(base::Slot slot) const;

    /// The tokens that a slot holds.
    std::vector<base::Token> text(base::Slot slot) const;

    /// The checkpoints on the path to a slot's tail, shortest first.
    std::vector<Checkpoint> checkpoints_of(base::Slot slot) const;
    /// The length of the last of them within a slot's first `length` tokens; 0 if there is none.
    int32_t checkpoint_before(base::Slot slot, int32_t length) const;

    /// Number of cells in use, and how many of them pinned slots hold.
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
    void walk(const Text& text, Visit visit) const;
    const Node* root_of(std::string_view space) const;
    void unmark(Node* node);
    Node* split(Node* node, size_t at);
    void hold(Node* node, base::Slot slot);
    void release_tail(base::Slot slot);
    Node* add_tail(base::Slot slot, std::span<const base::Token> tokens);
    Held& held(base::Slot slot) { return held_[static_cast<size_t>(slot)]; }
    const Held& held(base::Slot slot) const { return held_[static_cast<size_t>(slot)]; }

    std::unique_ptr<Node> root_;
    /// The roots of spaces that some slot is of, but for the common one.
    std::map<std::string, std::unique_ptr<Node>, std::less<>> space_roots_;
    std::vector<Held> held_;
    /// Nodes that end in a checkpoint, least recently used first.
    std::list<Node*> marked_;
    std::vector<base::CheckpointId> dropped_;
    int32_t cells_ = 0;
    int32_t cells_pinned_ = 0;
};

} // namespace sched
