// The index of the host KV tier: which computed state is kept in host memory after its cells were needed for something else.
// KvCacheManager decides when something is swapped out or in; engine/host_tier_store.h holds the bytes.
//
// A segment is the state of a part of a text: only the part that existed nowhere else when it was swapped out. A chat that is
// evicted repeatedly leaves a chain of segments, and chats with the same system message share its segment:
//
//     [0, 900) system message and a first chat        [900, 1400) its next messages
//     [0, 800) of it is also the prefix of ...        [800, 1300) a second chat
//
// A token's state depends on all tokens before it, so each segment knows its whole text: it can be swapped in wherever exactly
// that text is computed up to the segment's first token, in any sequence. A segment is never wrong, only unused. The least
// recently used segments are dropped first, and the end of a chain before what it continues. If they belong to several owners (owner_of()),
// those of the owner with the most memory are dropped first: nobody's many texts push out what others use.
//
// The texts are kept in a tree (text_tree.h) for each space, each common prefix once. So looking up a text walks along
// it once, and the memory of texts counts towards the tier's limit.
#pragma once

#include "base/types.h"
#include "sched/kv_blocks.h"
#include "sched/step.h"
#include "sched/text_tree.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sched {

class HostTier {
public:
    /// A state of fewer tokens is not kept: the fixed cost of a copy would not pay off.
    static constexpr int32_t kSegmentMin = 64;

    /// A longer state that can be cut is split into several segments, so that a text swaps in only what it needs and copying is
    /// spread over steps.
    static constexpr int32_t kSegmentMax = 512;

    /// Bounds the work per waiting request, which compares all segments that share a prefix with its text.
    static constexpr size_t kSegmentsMax = 1024;

    /// If `checkpoint_bytes` is not 0, a segment is usable only as a whole or up to one of its checkpoints.
    HostTier(uint64_t bytes_max, uint64_t checkpoint_bytes)
        : bytes_max_(bytes_max), checkpoint_bytes_(checkpoint_bytes) {
        texts_[""];
    }
    HostTier(const HostTier&) = delete;
    HostTier& operator=(const HostTier&) = delete;

    /// From now on, reports every added or dropped segment of the common space to `blocks`.
    void report_to(KvBlocks* blocks) { blocks_ = blocks; }

    struct Match {
        base::SegmentId segment = 0;
        /// Where the segment begins and ends, and how many of the text's tokens will be computed once it is swapped in.
        int32_t first = 0;
        int32_t end = 0;
        int32_t length = 0;

        /// Extra cells that swapping in takes for a moment.
        int32_t surplus(int32_t computed) const { return (end - first) - (length - computed); }
    };

    /// The segments that hold a part of one text, each up to where it is usable.
    using Matches = std::vector<Match>;
    Matches look_up(const Text& text) const;

    /// The segment that extends the first `computed` tokens of a text furthest; segment 0 if none is worth swapping in. Ignores
    /// segments that were dropped since look_up().
    Match find(const Matches& matches, int32_t computed) const;

    /// How many of a text's tokens would be computed with all its segments swapped in, one after the other.
    int32_t reach(const Text& text, int32_t computed) const;

    /// Makes room for the state of `text` from `first` on, with checkpoints at these lengths, and adds it as a segment. 0 if that
    /// would require dropping what the segment continues.
    base::SegmentId add(const Text& text, int32_t first, std::vector<int32_t> checkpoints);

    /// Reports the outcome of adding a segment, from which the size of a token's state is learned. A failure means that the
    /// machine is out of memory: the current use becomes the limit, unless the segment would not have fitted anyway.
    void swapped_out(base::SegmentId segment, const SwappedOut& result);

    /// The segment is about to be swapped in: it is not dropped before swapped_in().
    void begin_swap_in(base::SegmentId segment);
    /// A segment that could not be swapped in is dropped.
    void swapped_in(base::SegmentId segment, Copied copied);

    /// Drops the segments of prefixes of a text, except those that are about to be swapped in.
    void erase(const Text& text);

    /// No segment is about to be swapped in any more.
    void cancel_swap_ins();

    struct Segment {
        base::SegmentId id;
        std::vector<base::Token> text;
        int32_t first;
        std::string space;
    };
    /// All segments, least recently used first.
    std::vector<Segment> all() const;

    /// Segments dropped since the last call, except those that the engine does not have.
    std::vector<base::SegmentId> take_dropped() { return std::exchange(dropped_, {}); }

    /// The number of segments that take_dropped() would return.
    size_t dropped() const { return dropped_.size(); }

    /// Bytes of the state of all segments, as far as known, and of their texts. The sum is at most bytes_max.
    uint64_t bytes() const { return bytes_; }
    uint64_t text_bytes() const;
    /// Tokens compared so far by look-ups of texts in the common space.
    uint64_t compared() const { return texts_.at("").compared(); }
    int32_t size() const { return static_cast<int32_t>(entries_.size()); }
    uint64_t swap_ins() const { return swap_ins_; }

private:
    /// By space.
    using Texts = std::map<std::string, TextTree, std::less<>>;

    struct Use {
        uint64_t bytes = 0;
        size_t segments = 0;
    };
    /// By owner.
    using Uses = std::map<std::string, Use, std::less<>>;

    struct Entry {
        base::SegmentId id;
        Uses::iterator owner;
        /// The tree of its text, and where the text ends in it.
        Texts::iterator texts;
        TextTree::Node* text;
        int32_t first;
        int32_t end;
        /// Lengths up to which it can be swapped in, ascending, ending with `end`; empty if it can be cut anywhere.
        std::vector<int32_t> stops;
        uint64_t bytes;
        /// Number of swap-ins in progress.
        int32_t uses = 0;
    };
    using Entries = std::list<Entry>;

    int32_t usable_length(const Entry& entry, std::span<const base::Token> tokens, int32_t common) const;
    uint64_t fixed_bytes(const Entry& entry) const { return checkpoint_bytes_ * entry.stops.size(); }
    bool fits(uint64_t bytes) const { return bytes_ + bytes + text_bytes() <= bytes_max_; }
    bool make_room(size_t droppable);
    Entries::iterator find_droppable(size_t droppable);
    void set_bytes(Entry& entry, uint64_t bytes);
    void forget_owner(const Entry& entry);
    size_t touch(const Text& text);
    void remove_text(const Entry& entry);
    void drop(Entries::iterator entry);
    void erase(Entries::iterator entry);
    Entries::iterator entry_of(base::SegmentId segment);

    uint64_t bytes_max_;
    const uint64_t checkpoint_bytes_;
    /// Least recently used first.
    Entries entries_;
    std::unordered_map<base::SegmentId, Entries::iterator> by_id_;
    /// That of the common space is always there.
    Texts texts_;
    std::vector<base::SegmentId> dropped_;
    Uses uses_;
    uint64_t bytes_ = 0;
    /// The largest size of a token's state so far, in bytes; 0 before the first segment.
    uint64_t token_bytes_ = 0;
    base::SegmentId segments_made_ = 0;
    uint64_t swap_ins_ = 0;
    /// Null if reports of blocks are disabled.
    KvBlocks* blocks_ = nullptr;
};

} // namespace sched
