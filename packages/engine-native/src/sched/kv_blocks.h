// Which blocks of tokens another request could reuse from the KV cache, and what has changed since the last report: where the
// KV-cache events come from that routers follow. Used by Cells and Stashes, and only where reports are wanted.
//
// A radix tree of texts, each common prefix once. A keeper has the state of a part of a text: a sequence or a checkpoint in
// the context from the first token on, a piece in host memory from where it begins. A run of tokens can be reused while
// somebody keeps it and all that is before it:
//
//     root ── [0, 100) device ──┬── [100, 130) device      a chat that runs
//                               └── [100, 612) host        one that was swapped out: it leans on the device's 100 tokens
//
// Block n of a text is its tokens from n * block_tokens on, and is named by a hash of the text up to the block's end. It is
// reported while its last token can be reused, and so are all blocks before it. Where a state cannot be cut (hybrid models),
// that is the most that a request can get: it gets what leads up to the last checkpoint on its way.
//
// A text is followed up to its first image: what an image's tokens stand for is known to this process alone.
#pragma once

#include "base/types.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

namespace sched {

/// Where a block's state lies: in the context, or in host memory, from where it is copied back.
enum class KvMedium { device, host };

/// What has changed since the report before. The removed ones go first: a block that moved is removed and stored.
struct KvReport {
    struct Removed {
        KvMedium medium;
        uint64_t hash;
    };
    /// Blocks one after the other.
    struct Stored {
        KvMedium medium;
        /// Of the block before the first of these; 0 where that begins the text.
        uint64_t parent;
        std::vector<uint64_t> hashes;
        std::vector<base::Token> tokens;
    };

    /// Whatever was reported before is void; what there is follows from here on.
    bool is_restated = false;
    std::vector<Removed> removed;
    /// Parents before children.
    std::vector<Stored> stored;
};

class KvBlocks {
public:
    /// Removed blocks that are remembered until the next report; beyond, everything is reported anew.
    static constexpr size_t kRemovedMax = 16'384;
    /// Blocks in one report: of 64 tokens, these are a megabyte. The rest is in the next one.
    static constexpr size_t kStoredMax = 4'096;

    enum class Kind { sequence, checkpoint, piece };
    struct Keeper {
        Kind kind;
        uint64_t id;
        auto operator<=>(const Keeper&) const = default;
    };

    /// `seed` is part of every hash: equal texts of two models have different blocks.
    KvBlocks(int32_t block_tokens, uint64_t seed);
    ~KvBlocks();
    KvBlocks(const KvBlocks&) = delete;
    KvBlocks& operator=(const KvBlocks&) = delete;

    /// A new keeper has the state of `text` from `first` on. Only pieces are in host memory.
    void keep(Keeper keeper, std::span<const base::Token> text, int32_t first = 0);
    /// It has computed more. Unknown keepers are ignored, here and below. What fills no block may be noted later.
    void append(Keeper keeper, std::span<const base::Token> tokens);
    /// Notes what append() has left for later.
    void settle(Keeper keeper);
    /// It has only the first `length` tokens of its text.
    void truncate(Keeper keeper, int32_t length);
    void release(Keeper keeper);

    /// The next report begins anew.
    void restate();
    bool has_changes() const { return is_restated_ || !removed_.empty() || !changed_.empty(); }
    KvReport take_report();

private:
    struct Node;
    struct Held {
        Node* end;
        int32_t length = 0;
        int32_t first = 0;
        std::vector<base::Token> pending = {};
    };

    static std::optional<KvMedium> medium_of(const Node& node);
    static KvMedium kept_in(Keeper keeper);
    Node* descend(Node* node, std::span<const base::Token> tokens);
    Node* add_leaf(Node* parent, std::span<const base::Token> tokens);
    Node* split(Node* node, size_t at);
    void grow(Node* node, std::span<const base::Token> tokens);
    void cover(Node* end, const Node* above, KvMedium medium);
    void uncover(Node* node, KvMedium medium);
    void refresh(Node* node);
    void prune(Node* node);
    void settle(Keeper keeper, Held& held);
    void truncate(Keeper keeper, Held& held, int32_t length);
    void add_blocks(Node* node, int32_t from);
    void add_tokens(const Node* node, int32_t end, std::vector<base::Token>& tokens) const;
    uint64_t hash_at(const Node* node, int32_t depth) const;
    uint64_t hash_of(uint64_t parent, std::span<const base::Token> tokens) const;
    void report_removed(Node* node, KvReport& report);
    size_t report_stored(Node* node, size_t most, KvReport& report);

    const int32_t block_tokens_;
    const uint64_t seed_;
    std::unique_ptr<Node> root_;
    std::map<Keeper, Held> held_;
    /// Nodes with blocks that are not as they were reported.
    std::unordered_set<Node*> changed_;
    /// Reported blocks whose nodes are gone.
    std::vector<KvReport::Removed> removed_;
    bool is_restated_ = false;
};

} // namespace sched
