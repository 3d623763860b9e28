// A radix tree of texts: a node is a run of tokens, and the path to it is the text before them. The class that owns the tree adds
// its own data to nodes: its Node derives from RadixNode<Node>. The root has no tokens and is never split or removed.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {

/// What computed state is found by: the tokens, and the space that they belong to (Request::space()). Owns nothing.
struct Text {
    template <std::ranges::contiguous_range Tokens>
    Text(const Tokens& of, std::string_view with = {}) : tokens(of), space(with) {}

    std::span<const base::Token> tokens;
    std::string_view space;
};

template <class Node>
struct RadixNode {
    Node* parent = nullptr;
    std::vector<base::Token> tokens = {};
    std::vector<std::unique_ptr<Node>> children = {};

    int32_t size() const { return static_cast<int32_t>(tokens.size()); }

    /// How many tokens this run and another have in common at the start.
    size_t common_length(std::span<const base::Token> other) const {
        return static_cast<size_t>(std::ranges::mismatch(tokens, other).in1 - tokens.begin());
    }

    /// The first child whose run begins with this token; null if there is none.
    Node* child(base::Token first) const {
        const auto begins_so = [first](const auto& one) { return one->tokens.front() == first; };
        const auto found = std::ranges::find_if(children, begins_so);
        return found == children.end() ? nullptr : found->get();
    }

    Node* add_child(std::span<const base::Token> run) {
        Node* added = children.emplace_back(std::make_unique<Node>()).get();
        added->parent = static_cast<Node*>(this);
        added->tokens.assign(run.begin(), run.end());
        return added;
    }

    /// Where the parent owns this node.
    std::unique_ptr<Node>& place() const {
        return *std::ranges::find(parent->children, this, &std::unique_ptr<Node>::get);
    }

    /// Moves the first `at` tokens of the run to a new node above this one, which keeps its address, and returns that node.
    Node* split(size_t at) {
        const auto cut = tokens.begin() + static_cast<std::ptrdiff_t>(at);
        auto upper = std::make_unique<Node>();
        upper->parent = parent;
        upper->tokens.assign(tokens.begin(), cut);
        tokens.erase(tokens.begin(), cut);
        std::unique_ptr<Node>& place = this->place();
        upper->children.push_back(std::exchange(place, nullptr));
        place = std::move(upper);
        return parent = place.get();
    }

    /// Destroys this node, which has no children.
    void remove() { parent->children.erase(parent->children.begin() + (&place() - parent->children.data())); }

    /// The text that ends with this run.
    std::vector<base::Token> text() const {
        size_t length = 0;
        for (const RadixNode* node = this; node != nullptr; node = node->parent)
            length += node->tokens.size();
        std::vector<base::Token> text(length);
        auto at = text.end();
        for (const RadixNode* node = this; node != nullptr; node = node->parent)
            at = std::ranges::copy_backward(node->tokens, at).out;
        return text;
    }
};

/// Follows `tokens` from the end of `node`, below which no two children of one node begin alike, and returns the node at whose end
/// they lead: `split(node, at)` creates it in the middle of a run, `add(parent, rest)` where the tree ends.
template <class Node>
Node* descend(Node* node, std::span<const base::Token> tokens, const auto& split, const auto& add) {
    while (!tokens.empty()) {
        Node* child = node->child(tokens.front());
        if (child == nullptr) return add(node, tokens);
        const size_t common = child->common_length(tokens);
        node = common < child->tokens.size() ? split(child, common) : child;
        tokens = tokens.subspan(common);
    }
    return node;
}

} // namespace sched
