// Tracks which blocks of tokens another request could reuse from the KV cache, and what has changed since the last report. This
// is the source of the KV-cache events that routers follow; it exists only while reports are enabled.
//
// A radix tree of texts, each common prefix once. A keeper has the state of a part of a text: a sequence or a checkpoint has
// it in the KV cache from the first token on, a segment has it in the host KV tier from its own first token on. A run of
// tokens can be reused while it and everything before it has a keeper:
//
//     root ── [0, 100) device ──┬── [100, 130) device      a running chat
//                               └── [100, 612) host        a chat that was swapped out: it continues the device's 100 tokens
//
// Block n of a text starts at token n * block_tokens and is named by a hash of the text up to the block's end. It is reported
// while its last token can be reused, and so are all blocks before it. Where recurrent state cannot be cut (hybrid models), a
// request may reuse less: only up to the last checkpoint on its path.
//
// A text is tracked up to its first image: the tokens of images mean nothing outside of this process.
#pragma once

#include "base/fields.h"
#include "base/types.h"
#include "sched/radix_tree.h"

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

/// Where a block's state is: in the KV cache, or in the host KV tier, from where it is swapped in.
enum class KvMedium { device, host };

/// What has changed since the previous report. Removals come first: a block that moved is removed and stored.
struct KvReport {
    struct Removed {
        KvMedium medium;
        uint64_t hash;
    };
    /// Consecutive blocks.
    struct Stored {
        KvMedium medium;
        /// Hash of the block before the first of these; 0 if the first one begins the text.
        uint64_t parent;
        std::vector<uint64_t> hashes;
        std::vector<base::Token> tokens;
    };

    /// Whether all earlier reports are void: this and the following ones report everything again.
    bool is_restated = false;
    std::vector<Removed> removed;
    /// Parents before children.
    std::vector<Stored> stored;
};

constexpr auto fields_of(const KvReport::Stored*) {
    using Stored = KvReport::Stored;
    return base::rows(
        base::choice("medium", &Stored::medium, {{"device", KvMedium::device}, {"host", KvMedium::host}}),
        base::field("parent", &Stored::parent, {.as = base::As::bigint}),
        base::field("hashes", &Stored::hashes), base::field("tokens", &Stored::tokens));
}

class KvBlocks {
public:
    /// Maximum number of removed blocks that are remembered until the next report; beyond that, everything is reported again.
    static constexpr size_t kRemovedMax = 16'384;
    /// Maximum number of blocks per report: a megabyte with blocks of 64 tokens. The rest is in the next report.
    static constexpr size_t kStoredMax = 4'096;

    enum class Kind { sequence, checkpoint, segment };
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

    /// Adds a keeper of the state of `text` from `first` on. Only segments are in host memory.
    void keep(Keeper keeper, std::span<const base::Token> text, int32_t first = 0);
    /// The keeper has computed more tokens. Unknown keepers are ignored, here and below. Tokens that do not fill a block may be
    /// noted later.
    void append(Keeper keeper, std::span<const base::Token> tokens);
    /// Notes the tokens that append() has deferred.
    void settle(Keeper keeper);
    /// The keeper now has only the first `length` tokens of its text.
    void truncate(Keeper keeper, int32_t length);
    void release(Keeper keeper);

    /// Makes the next report a full one.
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
    Node* node_at(Node* node, std::span<const base::Token> tokens);
    Node* split(Node* node, size_t at);
    void grow(Node* node, std::span<const base::Token> tokens);
    void cover(Node* end, const Node* above, KvMedium medium);
    void uncover(Node* node, KvMedium medium);
    void refresh(Node* node);
    void prune(Node* node);
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
    /// Nodes with blocks that differ from what was reported.
    std::unordered_set<Node*> changed_;
    /// Reported blocks whose nodes are gone.
    std::vector<KvReport::Removed> removed_;
    bool is_restated_ = false;
};

} // namespace sched
