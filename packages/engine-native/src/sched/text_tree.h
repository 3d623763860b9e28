// The texts of the host KV tier's segments, each common prefix once: a radix tree. Looking up a text takes one walk along its
// tokens, however many segments there are and however long their texts.
//
//     root ── "You are a helpful …" ──┬── "What is 2+2?"      where the text of segment 1 ends
//                                     └── "Tell me " ──┬── "a story"  …
//
// Unlike prefix_tree.h this is about texts, not cells: equal texts have one node, whichever sequence they came from. No two
// children of a node begin with the same token.
#pragma once

#include "base/types.h"
#include "sched/radix_tree.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sched {

class TextTree {
public:
    /// The node where a text ends. Valid until the last text that ends there is removed.
    struct Node : RadixNode<Node> {
        /// Segments whose texts end with this node.
        std::vector<base::SegmentId> segments = {};
    };

    TextTree() : root_(std::make_unique<Node>()) {}
    TextTree(const TextTree&) = delete;
    TextTree& operator=(const TextTree&) = delete;

    /// Adds a segment's text. Takes time in proportion to its length.
    Node* add(std::span<const base::Token> text, base::SegmentId segment);
    /// Removes it, and the nodes that only this segment needed.
    void remove(Node* end, base::SegmentId segment);

    /// Calls `visit(segment, common)` for each segment whose text shares its first `common` tokens, at least 1, with this one.
    /// Takes time in proportion to the text's length and the number of segments.
    void visit(std::span<const base::Token> text,
               const std::function<void(base::SegmentId segment, int32_t common)>& visit) const;

    /// Memory of all texts, each common prefix counted once.
    uint64_t bytes() const { return tokens_ * sizeof(base::Token); }

    /// Number of tokens compared so far: the cost of look-ups.
    uint64_t compared() const { return compared_; }

private:
    void merge_with_only_child(Node* node);

    std::unique_ptr<Node> root_;
    uint64_t tokens_ = 0;
    mutable uint64_t compared_ = 0;
};

} // namespace sched
