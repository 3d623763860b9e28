#include "sched/prefix_tree.h"

#include "base/result.h"
#include "base/types.h"

#include <algorithm>
#include <utility>

namespace sched {

using base::Slot;
using base::Token;

struct PrefixTree::Node : RadixNode<Node> {
    /// Slots whose path goes through or ends here; of the common root, none.
    std::vector<Slot> holders;
    /// How many of them are pinned.
    int32_t pins = 0;
    /// The state saved after the last of these tokens; 0 if none.
    base::CheckpointId checkpoint = 0;
    /// A moved tail: its state was computed from other tokens.
    bool is_moved = false;
};

PrefixTree::PrefixTree(int32_t slots) : root_(std::make_unique<Node>()) {
    held_.assign(static_cast<size_t>(slots), Held{.tail = root_.get()});
}

PrefixTree::~PrefixTree() = default;

/// Null if no slot is of this space.
const PrefixTree::Node* PrefixTree::root_of(std::string_view space) const {
    if (space.empty()) return root_.get();
    const auto found = space_roots_.find(space);
    return found == space_roots_.end() ? nullptr : found->second.get();
}

void PrefixTree::begin(Slot slot, std::string_view space) {
    INGLE_ASSERT(length(slot) == 0 && held(slot).tail == root_.get());
    if (space.empty()) return;
    std::unique_ptr<Node>& root = space_roots_[std::string(space)];
    if (root == nullptr) root = std::make_unique<Node>();
    root->holders.push_back(slot);
    held(slot).tail = root.get();
}

/// Calls `visit(node, length, is_whole)` for every node that the text leads into: `length` tokens match up to its end, or up to
/// where they differ. Depth first: several children may begin with the same token, and the best match may be behind any.
template <class Visit>
void PrefixTree::walk(const Text& text, Visit visit) const {
    const std::span<const Token> tokens = text.tokens;
    std::vector<std::pair<const Node*, size_t>> open;
    if (const Node* root = root_of(text.space); root != nullptr) open.emplace_back(root, 0);
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        const size_t common = node->common_length(tokens.subspan(depth));
        const size_t length = depth + common;
        if (common > 0) visit(*node, static_cast<int32_t>(length), common == node->tokens.size());
        if (common < node->tokens.size() || length == tokens.size()) continue;
        for (const auto& child : node->children) {
            if (!child->is_moved && child->tokens.front() == tokens[length])
                open.emplace_back(child.get(), length);
        }
    }
}

PrefixTree::Match PrefixTree::longest(const Text& text) const {
    Match best;
    walk(text, [&](const Node& node, int32_t length, bool) {
        if (length > best.length) best = {.length = length, .holder = node.holders.front()};
    });
    best.length = base::last_edge(text.tokens, best.length);
    return best.length == 0 ? Match{} : best;
}

PrefixTree::Match PrefixTree::longest_checkpoint(const Text& text) const {
    Match best;
    walk(text, [&](const Node& node, int32_t length, bool is_whole) {
        if (!is_whole || node.checkpoint == 0 || length <= best.length) return;
        if (base::is_inside_image(text.tokens, length)) return;
        best = {.length = length, .holder = node.holders.front(), .checkpoint = node.checkpoint};
    });
    return best;
}

void PrefixTree::mark(Slot slot, base::CheckpointId checkpoint) {
    Node* tail = held(slot).tail;
    INGLE_ASSERT(tail->parent != nullptr && tail->checkpoint == 0);
    tail->checkpoint = checkpoint;
    marked_.push_back(tail);
}

bool PrefixTree::is_marked(Slot slot) const {
    return held(slot).tail->checkpoint != 0;
}

void PrefixTree::touch(base::CheckpointId checkpoint) {
    const auto found = std::ranges::find(marked_, checkpoint, &Node::checkpoint);
    if (found != marked_.end()) marked_.splice(marked_.end(), marked_, found);
}

void PrefixTree::forget(base::CheckpointId checkpoint) {
    const auto found = std::ranges::find(marked_, checkpoint, &Node::checkpoint);
    if (found != marked_.end()) unmark(*found);
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
    for (; node->parent != nullptr; node = node->parent) hold(node, slot);
}

void PrefixTree::append(Slot slot, std::span<const Token> tokens) {
    if (tokens.empty()) return;
    const auto count = static_cast<int32_t>(tokens.size());
    Held& own = held(slot);
    cells_ += count;
    own.length += count;
    const bool is_private =
        own.tail->parent != nullptr && own.tail->holders.size() == 1 && own.tail->checkpoint == 0;
    if (is_private) {
        own.tail->tokens.insert(own.tail->tokens.end(), tokens.begin(), tokens.end());
        if (own.is_pinned) cells_pinned_ += count;
        return;
    }
    add_tail(slot, tokens);
}

/// Adds a node at the end of a slot's path.
PrefixTree::Node* PrefixTree::add_tail(Slot slot, std::span<const Token> tokens) {
    Node*& tail = held(slot).tail;
    tail = tail->add_child(tokens);
    hold(tail, slot);
    return tail;
}

void PrefixTree::release(Slot slot) {
    INGLE_ASSERT(!held(slot).is_pinned);
    truncate(slot, 0);
    Node* root = std::exchange(held(slot).tail, root_.get());
    if (root == root_.get()) return;
    std::erase(root->holders, slot);
    if (!root->holders.empty()) return;
    INGLE_ASSERT(root->children.empty());
    std::erase_if(space_roots_, [&](const auto& entry) { return entry.second.get() == root; });
}

void PrefixTree::truncate(Slot slot, int32_t length) {
    Held& own = held(slot);
    INGLE_ASSERT(length >= 0 && length <= own.length);
    while (own.length > length) {
        const int32_t parent_length = own.length - own.tail->size();
        if (parent_length < length) split(own.tail, static_cast<size_t>(length - parent_length));
        own.length -= own.tail->size();
        release_tail(slot);
    }
}

void PrefixTree::release_tail(Slot slot) {
    Held& own = held(slot);
    Node* node = std::exchange(own.tail, own.tail->parent);
    std::erase(node->holders, slot);
    if (own.is_pinned && --node->pins == 0) cells_pinned_ -= node->size();
    if (!node->holders.empty()) return;
    INGLE_ASSERT(node->children.empty()); // a slot that holds a child holds its parent
    cells_ -= node->size();
    unmark(node);
    node->remove();
}

void PrefixTree::shift(Slot slot, const Cut& cut) {
    const int32_t moved = length(slot) - cut.end();
    INGLE_ASSERT(moved >= 0 && private_length(slot) >= moved && cut.keep <= unmoved_length(slot));
    truncate(slot, cut.keep);
    if (moved == 0) return;
    // The tokens themselves do not matter: a moved tail never matches.
    add_tail(slot, std::vector<Token>(static_cast<size_t>(moved)))->is_moved = true;
    held(slot).length += moved;
    cells_ += moved;
}

std::vector<Slot> PrefixTree::sharers(Slot slot, int32_t length) const {
    int32_t end = this->length(slot);
    if (end <= length) return {};
    // A slot that holds one of these cells holds the first of them.
    const Node* node = held(slot).tail;
    for (; end - node->size() > length; node = node->parent) end -= node->size();
    std::vector<Slot> others = node->holders;
    std::erase(others, slot);
    return others;
}

int32_t PrefixTree::unmoved_length(Slot slot) const {
    const Node* tail = held(slot).tail;
    return tail->is_moved ? length(slot) - tail->size() : length(slot);
}

void PrefixTree::pin(Slot slot) {
    INGLE_ASSERT(!held(slot).is_pinned);
    held(slot).is_pinned = true;
    for (Node* node = held(slot).tail; node->parent != nullptr; node = node->parent) {
        if (node->pins++ == 0) cells_pinned_ += node->size();
    }
}

void PrefixTree::unpin(Slot slot) {
    INGLE_ASSERT(held(slot).is_pinned);
    held(slot).is_pinned = false;
    for (Node* node = held(slot).tail; node->parent != nullptr; node = node->parent) {
        if (--node->pins == 0) cells_pinned_ -= node->size();
    }
}

int32_t PrefixTree::private_length(Slot slot) const {
    int32_t length = 0;
    for (const Node* node = held(slot).tail; node->parent != nullptr && node->holders.size() == 1;
         node = node->parent)
        length += node->size();
    return length;
}

std::vector<Token> PrefixTree::text(Slot slot) const {
    return held(slot).tail->text();
}

std::vector<Checkpoint> PrefixTree::checkpoints_of(Slot slot) const {
    std::vector<Checkpoint> found;
    int32_t end = length(slot);
    for (const Node* node = held(slot).tail; node->parent != nullptr; node = node->parent) {
        if (node->checkpoint != 0) found.push_back({.length = end, .id = node->checkpoint});
        end -= node->size();
    }
    std::ranges::reverse(found);
    return found;
}

int32_t PrefixTree::checkpoint_before(Slot slot, int32_t length) const {
    int32_t last = 0;
    for (const Checkpoint& checkpoint : checkpoints_of(slot)) {
        if (checkpoint.length <= length) last = checkpoint.length;
    }
    return last;
}

/// Splits a node; both parts are held by the same slots. Returns the upper one, which has `at` tokens.
PrefixTree::Node* PrefixTree::split(Node* node, size_t at) {
    INGLE_ASSERT(at > 0 && at < node->tokens.size());
    Node* upper = node->split(at);
    upper->holders = node->holders;
    upper->pins = node->pins;
    upper->is_moved = node->is_moved;
    return upper;
}

void PrefixTree::hold(Node* node, Slot slot) {
    node->holders.push_back(slot);
    if (held(slot).is_pinned && node->pins++ == 0) cells_pinned_ += node->size();
}

} // namespace sched
