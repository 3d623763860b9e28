// Decides which sequence holds which cells of the KV cache: slots for sequences, cells reserved for running ones, the prefix
// cache of ended ones, and swapping to and from the host KV tier. The scheduler decides which sequences run; this class decides
// what must be evicted for them.
//
// A running sequence has a slot, the cells of what it has computed (its own or shared, see prefix_tree.h), and reserved cells
// ahead. Ended sequences stay cached until their cells or slots are needed; the least recently used is evicted first. Where
// recurrent state cannot be cut (Limits::checkpoints), a prefix is shared where a checkpoint of it was saved.
//
// State that would be lost with an evicted sequence is first swapped out (host_tier.h), and swapped in when a text needs it.
// Copying delays every sequence, so one step copies a bounded number of tokens, and the rest waits for the next step. Steps with
// nothing else to do copy ahead what the next requests would have to evict.
//
// This class does not touch the real cells: take_ops() returns the operations that the engine must execute before the next batch.
#pragma once

#include "sched/host_tier.h"
#include "sched/kv_blocks.h"
#include "sched/prefix_tree.h"
#include "sched/request.h"
#include "sched/step.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

/// A part of a text whose state is kept, in the cells of a slot or in a segment.
struct KeptPart {
    base::Slot slot = base::kNoSlot;
    /// Only without a slot.
    base::SegmentId segment = 0;
    int32_t first = 0;
    int32_t length = 0;
    /// Those of the slot within the part.
    std::vector<Checkpoint> checkpoints = {};
};

class KvCacheManager {
public:
    /// Whether a sequence that stops running stays in the prefix cache.
    enum class Keep { yes, no };

    /// The recurrent state of a shorter text is not saved, and no request waits for another to compute fewer common tokens than
    /// this: computing them costs about as much. Sharing existing cells costs microseconds and always pays off.
    static constexpr int32_t kWorthMin = 16;

    /// Maximum number of tokens copied per step; a single segment that cannot be cut may be longer. For a model with a billion
    /// parameters, this is 46 MB: 20 ms to swap out, 4 ms to swap in.
    static constexpr int32_t kCopyMax = 2048;

    /// Copying ahead goes on until this share of the cells is free, or is freed without a copy.
    static constexpr int32_t kReadyShare = 4;

    explicit KvCacheManager(const Limits& limits);

    /// The longest prefix of `text` that can be shared; empty if there is none.
    PrefixTree::Match find_prefix(const Text& text) const;

    /// Takes a slot that begins with `match` and reserves `reserved` cells in total. Nothing if there would not be that many free
    /// cells even with every cached sequence evicted, or if evicting them takes more copies than fit this step. A sequence that
    /// does not share is neither kept for others nor reported.
    /// REQUIRES: fewer slots running than Limits::sequences; a match in this space.
    std::optional<base::Slot> admit(const PrefixTree::Match& match, int32_t reserved, bool shares,
                                    std::string_view space = {});

    /// Reserves up to `wanted` more cells for running sequences. Returns how many it reserved; 0 if none can be freed.
    int32_t reserve(int32_t wanted);

    /// A running `slot` has computed these tokens, in cells that were reserved for it.
    void append(base::Slot slot, std::span<const base::Token> tokens);

    /// Frees the cells of rejected drafts: those of a running `slot` beyond its length.
    void trim(base::Slot slot);

    /// Of a text's segments (HostTier::look_up()), the one that continues a running sequence's `computed` tokens, if there is one
    /// and room to swap it in.
    std::optional<HostTier::Match> find_segment(const HostTier::Matches& matches, int32_t computed) const;
    /// Plans to swap in a match of find_segment(), into reserved cells. False if that has to wait for the next step.
    bool swap_in(const HostTier::Match& match, const SwapIn& op);

    /// Adds a segment that an earlier engine of the same model saved, with checkpoints at these lengths. 0 if there is no
    /// room for it.
    base::SegmentId adopt(const Text& text, int32_t first, std::vector<int32_t> checkpoints, uint64_t bytes);

    /// The kept part that continues the first `computed` tokens of a text: as many tokens as a segment has. Ignores state that
    /// belongs to other texts, too. Nothing if no more of the text is kept.
    std::optional<KeptPart> find_part(const Text& text, int32_t computed) const;

    /// Forgets the state of a text. What belongs to running sequences, or to other texts, stays. Returns how many tokens fewer are
    /// kept.
    int32_t erase(const Text& text);

    /// Whether evicted state is swapped out from now on: StepBudget::copies_evicted. At first it is.
    void set_copies_evicted(bool copies) { copies_evicted_ = copies; }

    /// Evicts cached sequences, as many as can be swapped out in one step.
    void evict_cached_sequences();

    /// Swaps out a segment of a cached sequence that stays, so that evicting it later takes no copy: until the next requests find a
    /// slot for each sequence that may run, and some cells. Plans nothing where they do.
    void copy_ahead();

    /// Plans to save the current recurrent state of a running `slot`, if that is worthwhile. Drops the oldest checkpoint if there
    /// are too many.
    void save_checkpoint(base::Slot slot);

    /// Forgets a checkpoint whose state could not be saved.
    void forget_checkpoint(base::CheckpointId checkpoint);

    /// The KV cache was emptied, by no operation of this class. The host KV tier stays.
    /// REQUIRES: nothing runs.
    void clear();

    /// Removes a part of what a running `slot` has computed and moves what follows down; cells reserved ahead stay. False, with
    /// nothing changed, if cells cannot be moved or another running sequence holds one that would have to move.
    bool shift(base::Slot slot, const Cut& cut);

    /// A running `slot` stops; `unused` cells were reserved for it beyond what it computed.
    void leave(base::Slot slot, int32_t unused, Keep keep);

    /// Moves the operations since the last call to `ops`, in order. Ends a step: the next one may copy again.
    void take_ops(std::vector<KvOp>& ops);

    /// Whether prefix sharing is enabled.
    bool shares_prefixes() const { return limits_.cached_sequences > 0; }
    /// Whether prefixes can be shared at checkpoints only.
    bool needs_checkpoints() const { return limits_.checkpoints > 0; }

    /// Cells that running sequences hold or have reserved.
    int32_t reserved() const { return tree_.cells_pinned() + ahead_; }
    /// Cells that only cached sequences hold.
    int32_t cached() const { return tree_.cells() - tree_.cells_pinned(); }
    /// The host KV tier, which needs the outcomes of swapping. The caller appends swapped-in tokens as if they were computed.
    HostTier& host_tier() { return host_tier_; }
    const HostTier& host_tier() const { return host_tier_; }
    const PrefixTree& tree() const { return tree_; }
    /// Whether blocks() has what a slot holds: other sequences may use it, and it is in the common space.
    bool is_reported(base::Slot slot) const { return is_reported_[static_cast<size_t>(slot)]; }
    /// The reusable blocks, for reports; null if reports are disabled.
    KvBlocks* blocks() const { return blocks_.get(); }
    /// The number of tokens that a slot holds.
    int32_t length(base::Slot slot) const { return tree_.length(slot); }

    /// Asserts that every slot is either running, cached or free, and that `ahead` cells are reserved.
    void check_integrity(std::span<const base::Slot> running, int32_t ahead) const;

private:
    /// If an evicted sequence has to be swapped out but this step may not copy any more: whether the eviction waits or the state
    /// is lost.
    enum class OverCopyLimit { wait, lose };

    /// A shorter sequence is not kept: it has no checkpoint.
    int32_t cached_length_min() const { return needs_checkpoints() ? kWorthMin : 1; }
    bool make_room(int32_t cells, OverCopyLimit over_limit);
    std::vector<base::Slot>::iterator next_evicted(base::Slot needed);
    bool make_free_slot(base::Slot needed);
    bool evict(std::vector<base::Slot>::iterator cached, OverCopyLimit over_limit);
    bool swap_out(base::Slot slot, OverCopyLimit over_limit, int32_t copied_max = kCopyMax);
    int32_t segment_end(std::span<const base::Token> text, int32_t first) const;
    std::vector<Checkpoint> checkpoints_between(base::Slot slot, int32_t first, int32_t length) const;
    bool is_within(base::Slot slot, const Text& text) const;
    base::Slot find_cached(const Text& text) const;
    int32_t kept(const Text& text) const;
    bool swap_out_segment(base::Slot slot, const Text& text, int32_t first);
    bool may_copy(int32_t tokens, int32_t copied_max = kCopyMax) const {
        return copied_ == 0 || copied_ + tokens <= copied_max;
    }
    void add_free_slot(base::Slot slot);
    void free_slot(base::Slot slot);
    void drop_moved_tail(base::Slot slot);
    void plan_dropped_checkpoints();
    void plan_dropped_segments();

    const Limits limits_;
    PrefixTree tree_;
    std::unique_ptr<KvBlocks> blocks_;
    HostTier host_tier_;
    /// Descending: the lowest slot is taken first, so that the slots in use are close together.
    std::vector<base::Slot> free_slots_;
    std::vector<bool> is_reported_;
    /// By slot.
    std::vector<std::string> spaces_;
    /// Slots of ended sequences, least recently used first.
    std::vector<base::Slot> cached_slots_;
    /// Cells reserved for running sequences and not yet filled.
    int32_t ahead_ = 0;
    bool copies_evicted_ = true;
    /// Number of tokens copied in this step, out and in.
    int32_t copied_ = 0;
    base::CheckpointId checkpoints_made_ = 0;
    std::vector<KvOp> ops_;
};

} // namespace sched
