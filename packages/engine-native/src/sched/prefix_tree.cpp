#include "sched/prefix_tree.h"

#include "base/result.h"

#include <algorithm>
#include <utility>

namespace sched {

using base::Slot;
using base::Token;

struct PrefixTree::Node {
    Node* parent = nullptr;
    std::vector<Token> tokens;
    std::vector<std::unique_ptr<Node>> children;
    /// Slots whose path goes through or ends here; never empty but in the root.
    std::vector<Slot> holders;
    /// How many of them are pinned.
    int32_t pins = 0;
    /// The state saved after the last of these tokens; 0 is none.
    base::CheckpointId checkpoint = 0;

    int32_t size() const { return static_cast<int32_t>(tokens.size()); }
};

namespace {

size_t common_length(std::span<const Token> a, std::span<const Token> b) {
    const auto [end_a, end_b] = std::ranges::mismatch(a, b);
    return static_cast<size_t>(end_a - a.begin());
}

} // namespace

PrefixTree::PrefixTree(int32_t slots) : root_(std::make_unique<Node>()) {
    held_.assign(static_cast<size_t>(slots), Held{.tail = root_.get()});
}

PrefixTree::~PrefixTree() = default;

/// Calls `visit(node, length)` for every node that `tokens` lead into, with the tokens matched at its end or where they
/// part. Depth first; several children may begin alike, and the best way may lie behind any of them.
template <class Visit>
void PrefixTree::walk(std::span<const Token> tokens, Visit visit) const {
    std::vector<std::pair<const Node*, size_t>> open{{root_.get(), 0}};
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        const size_t common = common_length(node->tokens, tokens.subspan(depth));
        const size_t length = depth + common;
        if (common > 0) visit(*node, static_cast<int32_t>(length), common == node->tokens.size());
        if (common < node->tokens.size() || length == tokens.size()) continue;
        for (const auto& child : node->children) {
            if (child->tokens.front() == tokens[length]) open.emplace_back(child.get(), length);
        }
    }
}

PrefixTree::Match PrefixTree::longest(std::span<const Token> tokens) const {
    Match best;
    walk(tokens, [&](const Node& node, int32_t length, bool) {
        if (length > best.length) best = {.length = length, .holder = node.holders.front()};
    });
    return best;
}

PrefixTree::Match PrefixTree::longest_checkpoint(std::span<const Token> tokens) const {
    Match best;
    walk(tokens, [&](const Node& node, int32_t length, bool is_whole) {
        if (!is_whole || node.checkpoint == 0 || length <= best.length) return;
        best = {.length = length, .holder = node.holders.front(), .checkpoint = node.checkpoint};
    });
    return best;
}

void PrefixTree::mark(Slot slot, base::CheckpointId checkpoint) {
    Node* tail = held(slot).tail;
    INGLE_ASSERT(tail != root_.get() && tail->checkpoint == 0);
    tail->checkpoint = checkpoint;
    marked_.push_back(tail);
}

bool PrefixTree::is_marked(Slot slot) const {
    return held_[static_cast<size_t>(slot)].tail->checkpoint != 0;
}

void PrefixTree::touch(base::CheckpointId checkpoint) {
    const auto found = std::ranges::find(marked_, checkpoint, &Node::checkpoint);
    if (found != marked_.end()) marked_.splice(marked_.end(), marked_, found);
}

void PrefixTree::forget_oldest_checkpoint() {
    unmark(marked_.front());
}

void PrefixTree::unmark(Node* node) {
    if (node->checkpoint == 0) return;
    dropped_.push_back(std::exchange(node->checkpoint, 0));
    marked_.remove(node);
}

void PrefixTree::share(Slot slot, const Match& match) {
    INGLE_ASSERT(length(slot) == 0 && match.length > 0 && match.length <= length(match.holder));
    // From the holder's tail up to the node in which the match ends.
    Node* node = held(match.holder).tail;
    int32_t end = length(match.holder);
    while (end - node->size() >= match.length) {
        end -= node->size();
        node = node->parent;
    }
    if (end > match.length) node = split(node, static_cast<size_t>(node->size() - (end - match.length)));
    held(slot).tail = node;
    held(slot).length = match.length;
    for (; node != root_.get(); node = node->parent) hold(node, slot);
}

void PrefixTree::append(Slot slot, std::span<const Token> tokens) {
    if (tokens.empty()) return;
    const auto count = static_cast<int32_t>(tokens.size());
    Held& own = held(slot);
    cells_ += count;
    own.length += count;
    const bool is_private =
        own.tail != root_.get() && own.tail->holders.size() == 1 && own.tail->checkpoint == 0;
    if (is_private) {
        own.tail->tokens.insert(own.tail->tokens.end(), tokens.begin(), tokens.end());
        if (own.is_pinned) cells_pinned_ += count;
        return;
    }
    auto node = std::make_unique<Node>();
    node->parent = own.tail;
    node->tokens.assign(tokens.begin(), tokens.end());
    Node* raw = node.get();
    own.tail->children.push_back(std::move(node));
    own.tail = raw;
    hold(raw, slot);
}

void PrefixTree::release(Slot slot) {
    Held& own = held(slot);
    INGLE_ASSERT(!own.is_pinned);
    for (Node* node = own.tail; node != root_.get();) {
        Node* parent = node->parent;
        std::erase(node->holders, slot);
        if (node->holders.empty()) {
            INGLE_ASSERT(node->children.empty()); // who holds a child holds its parent
            cells_ -= node->size();
            unmark(node);
            std::erase_if(parent->children, [node](const auto& child) { return child.get() == node; });
        }
        node = parent;
    }
    own = Held{.tail = root_.get()};
}

void PrefixTree::pin(Slot slot) {
    INGLE_ASSERT(!held(slot).is_pinned);
    held(slot).is_pinned = true;
    for (Node* node = held(slot).tail; node != root_.get(); node = node->parent) {
        if (node->pins++ == 0) cells_pinned_ += node->size();
    }
}

void PrefixTree::unpin(Slot slot) {
    INGLE_ASSERT(held(slot).is_pinned);
    held(slot).is_pinned = false;
    for (Node* node = held(slot).tail; node != root_.get(); node = node->parent) {
        if (--node->pins == 0) cells_pinned_ -= node->size();
    }
}

int32_t PrefixTree::private_length(Slot slot) const {
    int32_t length = 0;
    for (const Node* node = held_[static_cast<size_t>(slot)].tail; node->holders.size() == 1;
         node = node->parent) {
        length += node->size();
    }
    return length;
}

/// Cuts a node in two, both held by the same slots; returns the upper one, which has `at` tokens.
PrefixTree::Node* PrefixTree::split(Node* node, size_t at) {
    INGLE_ASSERT(at > 0 && at < node->tokens.size());
    const auto place =
        std::ranges::find_if(node->parent->children, [&](const auto& child) { return child.get() == node; });
    auto upper = std::make_unique<Node>();
    const auto cut = node->tokens.begin() + static_cast<std::ptrdiff_t>(at);
    upper->parent = node->parent;
    upper->tokens.assign(node->tokens.begin(), cut);
    upper->holders = node->holders;
    upper->pins = node->pins;
    node->tokens.erase(node->tokens.begin(), cut);
    node->parent = upper.get();
    Node* raw = upper.get();
    upper->children.push_back(std::move(*place));
    *place = std::move(upper);
    return raw;
}

void PrefixTree::hold(Node* node, Slot slot) {
    node->holders.push_back(slot);
    if (held(slot).is_pinned && node->pins++ == 0) cells_pinned_ += node->size();
}

} // namespace sched
