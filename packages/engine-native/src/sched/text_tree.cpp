#include "sched/text_tree.h"

#include "base/result.h"

#include <algorithm>
#include <utility>

namespace sched {

using base::SegmentId;
using base::Token;

size_t TextTree::common_length(const Node& node, std::span<const Token> rest) const {
    const auto [end, _] = std::ranges::mismatch(node.tokens, rest);
    const auto common = static_cast<size_t>(end - node.tokens.begin());
    compared_ += common + 1;
    return common;
}

TextTree::Node* TextTree::child_of(const Node& node, Token first) const {
    const auto begins_so = [first](const auto& child) { return child->tokens.front() == first; };
    const auto found = std::ranges::find_if(node.children, begins_so);
    compared_ += static_cast<uint64_t>(found - node.children.begin()) + 1;
    return found == node.children.end() ? nullptr : found->get();
}

TextTree::Node* TextTree::add(std::span<const Token> text, SegmentId segment) {
    Node* node = root_.get();
    size_t depth = 0;
    while (depth < text.size()) {
        Node* child = child_of(*node, text[depth]);
        if (child == nullptr) {
            auto rest = std::make_unique<Node>();
            rest->parent = node;
            rest->tokens.assign(text.begin() + static_cast<std::ptrdiff_t>(depth), text.end());
            tokens_ += rest->tokens.size();
            depth = text.size();
            node = node->children.emplace_back(std::move(rest)).get();
            break;
        }
        const size_t common = common_length(*child, text.subspan(depth));
        depth += common;
        node = common < child->tokens.size() ? split(child, common) : child;
    }
    node->segments.push_back(segment);
    return node;
}

/// Splits a node and returns the upper part. The lower part keeps its address, which segments refer to.
TextTree::Node* TextTree::split(Node* node, size_t at) {
    Node* parent = node->parent;
    const auto place = std::ranges::find(parent->children, node, &std::unique_ptr<Node>::get);
    auto upper = std::make_unique<Node>();
    const auto cut = node->tokens.begin() + static_cast<std::ptrdiff_t>(at);
    upper->parent = parent;
    upper->tokens.assign(node->tokens.begin(), cut);
    node->tokens.erase(node->tokens.begin(), cut);
    node->parent = upper.get();
    upper->children.push_back(std::move(*place));
    *place = std::move(upper);
    return place->get();
}

void TextTree::remove(Node* end, SegmentId segment) {
    const size_t erased = std::erase(end->segments, segment);
    INGLE_ASSERT(erased == 1);
    Node* node = end;
    while (node != root_.get() && node->segments.empty() && node->children.empty()) {
        Node* parent = node->parent;
        tokens_ -= node->tokens.size();
        std::erase_if(parent->children, [node](const auto& child) { return child.get() == node; });
        node = parent;
    }
    merge_with_only_child(node);
}

/// A node where no text ends and nothing branches is merged into its only child, so that look-ups visit no needless nodes.
void TextTree::merge_with_only_child(Node* node) {
    if (node == root_.get() || !node->segments.empty() || node->children.size() != 1) return;
    Node* parent = node->parent;
    const auto place = std::ranges::find(parent->children, node, &std::unique_ptr<Node>::get);
    std::unique_ptr<Node> child = std::move(node->children.front());
    child->tokens.insert(child->tokens.begin(), node->tokens.begin(), node->tokens.end());
    child->parent = parent;
    *place = std::move(child);
}

void TextTree::visit(std::span<const Token> text,
                     const std::function<void(SegmentId segment, int32_t common)>& visit) const {
    std::vector<std::pair<const Node*, size_t>> beside; // with everything below them
    const Node* node = root_.get();
    size_t depth = 0;
    while (node != nullptr) {
        for (const SegmentId segment : node->segments) visit(segment, static_cast<int32_t>(depth));
        const Node* next = depth < text.size() ? child_of(*node, text[depth]) : nullptr;
        for (const auto& child : node->children) {
            if (child.get() != next && depth > 0) beside.emplace_back(child.get(), depth);
        }
        if (next == nullptr) break;
        const size_t common = common_length(*next, text.subspan(depth));
        depth += common;
        if (common < next->tokens.size()) beside.emplace_back(next, depth);
        node = common < next->tokens.size() ? nullptr : next;
    }
    while (!beside.empty()) {
        const auto [other, common] = beside.back();
        beside.pop_back();
        for (const SegmentId segment : other->segments) visit(segment, static_cast<int32_t>(common));
        for (const auto& child : other->children) beside.emplace_back(child.get(), common);
    }
}

std::vector<Token> TextTree::text_of(const Node* end) {
    size_t length = 0;
    for (const Node* node = end; node != nullptr; node = node->parent) length += node->tokens.size();
    std::vector<Token> text(length);
    auto at = text.end();
    for (const Node* node = end; node != nullptr; node = node->parent)
        at = std::ranges::copy_backward(node->tokens, at).out;
    return text;
}

} // namespace sched
