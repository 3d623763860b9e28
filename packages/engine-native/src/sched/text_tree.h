// The texts of the pieces in host memory, each common prefix once: a radix tree. Used by Stashes, which looks up a text with
// one walk along its tokens, however many pieces there are and however long their texts.
//
//     root ── "You are a helpful …" ──┬── "What is 2+2?"      where the text of piece 1 ends
//                                     └── "Tell me " ──┬── "a story"  …
//
// Unlike prefix_tree.h this is about texts, not about cells: a text is there once, whoever's it is.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sched {

class TextTree {
public:
    /// Where a text ends. Stays valid until the last text that ends there is removed.
    struct Node {
        Node* parent = nullptr;
        std::vector<base::Token> tokens = {};
        /// Their first tokens differ.
        std::vector<std::unique_ptr<Node>> children = {};
        /// Pieces whose texts end with this node.
        std::vector<base::StashId> pieces = {};
    };

    TextTree() : root_(std::make_unique<Node>()) {}
    TextTree(const TextTree&) = delete;
    TextTree& operator=(const TextTree&) = delete;

    /// Adds the text of a piece. Time in the length of the text.
    Node* add(std::span<const base::Token> text, base::StashId piece);
    /// Removes it, and what of the tree only that piece needed.
    void remove(Node* end, base::StashId piece);

    /// Calls `visit(piece, common)` for each piece whose text has its first `common` tokens, at least 1, in common with
    /// this one. Time in the length of the text and the number of pieces.
    void visit(std::span<const base::Token> text,
               const std::function<void(base::StashId piece, int32_t common)>& visit) const;

    /// The whole text that ends there.
    static std::vector<base::Token> text_of(const Node* end);

    /// Memory of all texts, each common prefix counted once.
    uint64_t bytes() const { return tokens_ * sizeof(base::Token); }

    /// Tokens that were compared since this began: what looking up costs.
    uint64_t compared() const { return compared_; }

private:
    Node* split(Node* node, size_t at);
    void tidy(Node* node);
    Node* child_of(const Node& node, base::Token first) const;
    size_t common_length(const Node& node, std::span<const base::Token> rest) const;

    std::unique_ptr<Node> root_;
    uint64_t tokens_ = 0;
    mutable uint64_t compared_ = 0;
};

} // namespace sched
