#include "sched/text_tree.h"

#include "base/result.h"

#include <utility>

namespace sched {

using base::SegmentId;
using base::Token;

TextTree::Node* TextTree::add(std::span<const Token> text, SegmentId segment) {
    Node* node = descend(
        root_.get(), text, [](Node* run, size_t at) { return run->split(at); },
        [this](Node* parent, std::span<const Token> rest) {
            tokens_ += rest.size();
            return parent->add_child(rest);
        });
    node->segments.push_back(segment);
    return node;
}

void TextTree::remove(Node* end, SegmentId segment) {
    const size_t erased = std::erase(end->segments, segment);
    INGLE_ASSERT(erased == 1);
    Node* node = end;
    while (node != root_.get() && node->segments.empty() && node->children.empty()) {
        tokens_ -= node->tokens.size();
        std::exchange(node, node->parent)->remove();
    }
    merge_with_only_child(node);
}

/// A node where no text ends and nothing branches is merged into its only child, so that look-ups do not visit needless nodes.
void TextTree::merge_with_only_child(Node* node) {
    if (node == root_.get() || !node->segments.empty() || node->children.size() != 1) return;
    std::unique_ptr<Node> child = std::move(node->children.front());
    child->tokens.insert(child->tokens.begin(), node->tokens.begin(), node->tokens.end());
    child->parent = node->parent;
    node->place() = std::move(child);
}

void TextTree::visit(std::span<const Token> text,
                     const std::function<void(SegmentId segment, int32_t common)>& visit) const {
    std::vector<std::pair<const Node*, size_t>> beside; // with everything below them
    const Node* node = root_.get();
    size_t depth = 0;
    while (node != nullptr) {
        for (const SegmentId segment : node->segments) visit(segment, static_cast<int32_t>(depth));
        const Node* next = depth < text.size() ? node->child(text[depth]) : nullptr;
        compared_ += node->children.size();
        for (const auto& child : node->children) {
            if (child.get() != next && depth > 0) beside.emplace_back(child.get(), depth);
        }
        if (next == nullptr) break;
        const size_t common = next->common_length(text.subspan(depth));
        compared_ += common;
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

} // namespace sched
