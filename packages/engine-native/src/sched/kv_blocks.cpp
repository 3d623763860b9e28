#include "sched/kv_blocks.h"

#include "base/result.h"
#include "base/types.h"

#include <algorithm>
#include <utility>

namespace sched {

using base::Token;

namespace {

/// The hash of a block that is never reported because it, or one before it, contains an image.
constexpr uint64_t kNoHash = 0;

/// A step of splitmix64: every bit of either input changes half of the output's.
constexpr uint64_t mix(uint64_t hash, uint64_t next) {
    hash += 0x9E3779B97F4A7C15ULL + next;
    hash = (hash ^ (hash >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    hash = (hash ^ (hash >> 27U)) * 0x94D049BB133111EBULL;
    return hash ^ (hash >> 31U);
}

/// Keeps a hash apart from kNoHash.
constexpr uint64_t reportable(uint64_t hash) {
    return hash == kNoHash ? 1 : hash;
}

} // namespace

struct KvBlocks::Node : RadixNode<Node> {
    struct Block {
        uint64_t hash;
        /// The medium that was reported; empty if it is not reported.
        std::optional<KvMedium> reported = std::nullopt;
    };

    /// Tokens of the text before this run.
    int32_t begin = 0;
    /// Keepers of this run.
    int32_t on_device = 0;
    int32_t on_host = 0;
    /// The medium from which it can be reused, together with everything before it.
    std::optional<KvMedium> medium = std::nullopt;
    /// Blocks that end in this run.
    std::vector<Block> blocks = {};
    /// How many of the first blocks are reported with their current medium.
    size_t settled = 0;

    int32_t end() const { return begin + size(); }
    int32_t& keepers(KvMedium where) { return where == KvMedium::device ? on_device : on_host; }
};

KvBlocks::KvBlocks(int32_t block_tokens, uint64_t seed)
    : block_tokens_(block_tokens), seed_(reportable(mix(0, seed))), root_(std::make_unique<Node>()) {
    INGLE_ASSERT(block_tokens >= 1);
    root_->medium = KvMedium::device;
}

KvBlocks::~KvBlocks() = default;

KvMedium KvBlocks::kept_in(Keeper keeper) {
    return keeper.kind == Kind::segment ? KvMedium::host : KvMedium::device;
}

void KvBlocks::keep(Keeper keeper, std::span<const Token> text, int32_t first) {
    Node* above = node_at(root_.get(), text.first(static_cast<size_t>(first)));
    Node* end = node_at(above, text.subspan(static_cast<size_t>(first)));
    cover(end, above, kept_in(keeper));
    const Held held{.end = end, .length = static_cast<int32_t>(text.size()), .first = first};
    const bool is_new = held_.emplace(keeper, held).second;
    INGLE_ASSERT(is_new);
}

void KvBlocks::append(Keeper keeper, std::span<const Token> tokens) {
    const auto found = held_.find(keeper);
    if (found == held_.end()) return;
    Held& held = found->second;
    held.pending.insert(held.pending.end(), tokens.begin(), tokens.end());
    const int32_t length = held.length + static_cast<int32_t>(held.pending.size());
    // If each token were noted at once, a run would be split wherever another text takes the same path.
    if (length / block_tokens_ > held.length / block_tokens_) settle(keeper);
}

void KvBlocks::settle(Keeper keeper) {
    const auto found = held_.find(keeper);
    if (found == held_.end() || found->second.pending.empty()) return;
    Held& held = found->second;
    Node* above = held.end;
    const bool is_own =
        above != root_.get() && above->children.empty() && above->on_device == 1 && above->on_host == 0;
    if (is_own) {
        grow(above, held.pending);
    } else {
        held.end = node_at(above, held.pending);
        cover(held.end, above, kept_in(keeper));
    }
    held.length += static_cast<int32_t>(held.pending.size());
    held.pending.clear();
}

void KvBlocks::truncate(Keeper keeper, int32_t length) {
    const auto found = held_.find(keeper);
    if (found == held_.end()) return;
    Held& held = found->second;
    const auto pending = static_cast<int32_t>(held.pending.size());
    held.pending.resize(static_cast<size_t>(std::clamp(length - held.length, 0, pending)));
    while (held.length > length) {
        Node* node = held.end;
        if (node->begin < length) split(node, static_cast<size_t>(length - node->begin));
        held.length = node->begin;
        held.end = node->parent;
        uncover(node, kept_in(keeper));
    }
}

void KvBlocks::release(Keeper keeper) {
    const auto found = held_.find(keeper);
    if (found == held_.end()) return;
    truncate(keeper, found->second.first);
    held_.erase(found);
}

/// The node that `tokens` lead to from the end of `node`; created if there is none.
KvBlocks::Node* KvBlocks::node_at(Node* node, std::span<const Token> tokens) {
    const auto add = [this](Node* parent, std::span<const Token> rest) {
        Node* leaf = parent->add_child({});
        leaf->begin = parent->end();
        grow(leaf, rest);
        return leaf;
    };
    return descend(node, tokens, [this](Node* run, size_t at) { return split(run, at); }, add);
}

void KvBlocks::grow(Node* node, std::span<const Token> tokens) {
    const int32_t from = node->end();
    node->tokens.insert(node->tokens.end(), tokens.begin(), tokens.end());
    add_blocks(node, from);
}

/// Splits a node and returns the upper part. The lower part keeps its address, which keepers refer to.
KvBlocks::Node* KvBlocks::split(Node* node, size_t at) {
    Node* upper = node->split(at);
    upper->begin = node->begin;
    upper->on_device = node->on_device;
    upper->on_host = node->on_host;
    upper->medium = node->medium;
    const auto blocks = static_cast<size_t>(upper->end() / block_tokens_ - upper->begin / block_tokens_);
    const auto first_below = node->blocks.begin() + static_cast<std::ptrdiff_t>(blocks);
    upper->blocks.assign(node->blocks.begin(), first_below);
    upper->settled = std::min(node->settled, blocks);
    if (upper->settled < blocks) changed_.insert(upper);
    node->settled -= upper->settled;
    node->blocks.erase(node->blocks.begin(), first_below);
    node->begin = upper->end();
    return upper;
}

/// Counts a keeper of everything below `above`, down to `end`.
void KvBlocks::cover(Node* end, const Node* above, KvMedium medium) {
    std::vector<Node*> way;
    for (Node* node = end; node != above; node = node->parent) way.push_back(node);
    for (auto node = way.rbegin(); node != way.rend(); ++node) {
        (*node)->keepers(medium) += 1;
        refresh(*node);
    }
}

void KvBlocks::uncover(Node* node, KvMedium medium) {
    node->keepers(medium) -= 1;
    refresh(node);
    prune(node);
}

std::optional<KvMedium> KvBlocks::medium_of(const Node& node) {
    if (node.on_device > 0) return KvMedium::device; // then everything before it is, too
    const bool is_whole = node.on_host > 0 && node.parent->medium.has_value();
    return is_whole ? std::optional(KvMedium::host) : std::nullopt;
}

/// Updates what can be reused at and below a node whose keepers have changed.
void KvBlocks::refresh(Node* node) {
    std::vector<Node*> open{node};
    while (!open.empty()) {
        Node* next = open.back();
        open.pop_back();
        const std::optional<KvMedium> before = std::exchange(next->medium, medium_of(*next));
        if (next->medium == before) continue;
        next->settled = 0;
        if (!next->blocks.empty()) changed_.insert(next);
        if (next->medium.has_value() == before.has_value()) continue;
        for (const auto& child : next->children) open.push_back(child.get());
    }
}

/// Removes a node without keepers and children, and its parents if that leaves them without both.
void KvBlocks::prune(Node* node) {
    while (node != root_.get() && node->on_device == 0 && node->on_host == 0 && node->children.empty()) {
        for (const Node::Block& block : node->blocks) {
            if (block.reported) removed_.push_back({.medium = *block.reported, .hash = block.hash});
        }
        changed_.erase(node);
        std::exchange(node, node->parent)->remove();
    }
    if (removed_.size() > kRemovedMax) restate();
}

/// Adds the blocks of a node's tokens from `from` on.
void KvBlocks::add_blocks(Node* node, int32_t from) {
    std::vector<Token> tokens;
    for (int32_t end = (from / block_tokens_ + 1) * block_tokens_; end <= node->end(); end += block_tokens_) {
        tokens.clear();
        add_tokens(node, end, tokens);
        node->blocks.push_back({.hash = hash_of(hash_at(node, end - block_tokens_), tokens)});
        changed_.insert(node);
    }
}

/// Appends the tokens of the block that ends at `end`, in this run; it may have begun in the runs above.
void KvBlocks::add_tokens(const Node* node, int32_t end, std::vector<Token>& tokens) const {
    const int32_t begin = end - block_tokens_;
    tokens.resize(tokens.size() + static_cast<size_t>(block_tokens_));
    auto left = tokens.end();
    for (int32_t last = end; last > begin; node = node->parent) {
        const int32_t first = std::max(node->begin, begin);
        const auto run = node->tokens.begin() - node->begin;
        left = std::copy_backward(run + first, run + last, left);
        last = first;
    }
}

/// The hash of the block that ends at `depth` on the path to a node, or the seed at depth 0.
uint64_t KvBlocks::hash_at(const Node* node, int32_t depth) const {
    if (depth == 0) return seed_;
    while (node->begin >= depth) node = node->parent;
    const auto index = static_cast<size_t>(depth / block_tokens_ - node->begin / block_tokens_ - 1);
    return node->blocks[index].hash;
}

uint64_t KvBlocks::hash_of(uint64_t parent, std::span<const Token> tokens) const {
    if (parent == kNoHash || std::ranges::any_of(tokens, base::is_image)) return kNoHash;
    uint64_t hash = parent;
    for (const Token token : tokens) hash = mix(hash, static_cast<uint32_t>(token));
    return reportable(hash);
}

void KvBlocks::restate() {
    is_restated_ = true;
    removed_.clear();
    std::vector<Node*> open{root_.get()};
    while (!open.empty()) {
        Node* node = open.back();
        open.pop_back();
        for (Node::Block& block : node->blocks) block.reported = std::nullopt;
        node->settled = 0;
        if (!node->blocks.empty()) changed_.insert(node);
        for (const auto& child : node->children) open.push_back(child.get());
    }
}

KvReport KvBlocks::take_report() {
    KvReport report{.is_restated = std::exchange(is_restated_, false),
                    .removed = std::exchange(removed_, {}),
                    .stored = {}};
    std::vector<Node*> nodes(changed_.begin(), changed_.end());
    // By depth, so parents come first. Equal texts are in one node, so the order among the others does not matter.
    std::ranges::sort(nodes, {}, &Node::begin);
    for (Node* node : nodes) report_removed(node, report);
    size_t stored = 0;
    for (Node* node : nodes) {
        stored += report_stored(node, kStoredMax - stored, report);
        if (node->settled < node->blocks.size()) break; // the rest is for the next report
        changed_.erase(node);
    }
    return report;
}

void KvBlocks::report_removed(Node* node, KvReport& report) {
    for (Node::Block& block : std::span(node->blocks).subspan(node->settled)) {
        if (!block.reported || block.reported == node->medium) continue;
        report.removed.push_back({.medium = *block.reported, .hash = block.hash});
        block.reported = std::nullopt;
    }
}

/// Reports up to `most` blocks of a node. Returns how many it reported.
size_t KvBlocks::report_stored(Node* node, size_t most, KvReport& report) {
    KvReport::Stored stored{
        .medium = node->medium.value_or(KvMedium::device), .parent = 0, .hashes = {}, .tokens = {}};
    for (; node->settled < node->blocks.size() && stored.hashes.size() < most; ++node->settled) {
        Node::Block& block = node->blocks[node->settled];
        if (block.reported || !node->medium || block.hash == kNoHash) continue;
        const int32_t before =
            (node->begin / block_tokens_ + static_cast<int32_t>(node->settled)) * block_tokens_;
        // All blocks of a run have the same medium, so they are consecutive.
        if (stored.hashes.empty() && before > 0) stored.parent = hash_at(node, before);
        stored.hashes.push_back(block.hash);
        add_tokens(node, before + block_tokens_, stored.tokens);
        block.reported = node->medium;
    }
    const size_t count = stored.hashes.size();
    if (count > 0) report.stored.push_back(std::move(stored));
    return count;
}

} // namespace sched
