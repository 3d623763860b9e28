// Who holds the context's cells: slots for sequences, room reserved for those that run, and what ended sequences leave
// for others. Used by the scheduler, which decides who runs; here it is decided what has to go for that.
//
// A running sequence has a slot, the cells of what it has computed (its own or shared, see prefix_tree.h), and room
// ahead. Ended sequences stay as donors until their cells or their slots are needed, least recently used first. Where a
// part of the state cannot be cut (Limits::checkpoints), a beginning is shared where its state was saved.
//
// What is lost with a donor is copied to host memory first (stashes.h), and back when a text needs it. Copying takes
// time from everybody, so only so much is copied in a turn: the rest waits for the next one.
//
// Nothing happens to the real cells here: take_ops() says what has to happen before the next turn is computed.
#pragma once

#include "sched/kv_blocks.h"
#include "sched/prefix_tree.h"
#include "sched/request.h"
#include "sched/stashes.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sched {

class Cells {
public:
    /// What becomes of a sequence's cells when it stops running.
    enum class Keep { yes, no };

    /// A shorter text's state is not saved, and what another sequence has fewer tokens more of is not waited for: both cost
    /// what computing these tokens costs. Sharing cells that are there costs microseconds, and is always worth it.
    static constexpr int32_t kWorthMin = 16;

    /// Tokens whose state may be copied in one turn; a single piece that cannot be cut may be longer. For a model of a
    /// billion parameters these are 46 MB: 20 ms on their way out, 4 ms on their way back.
    static constexpr int32_t kCopyMax = 2048;

    explicit Cells(const Limits& limits);

    /// The longest beginning of `tokens` that can be shared; empty when there is none.
    PrefixTree::Match find(std::span<const base::Token> tokens) const;

    /// How much of `tokens` could be there without computing: what is shared and what host memory has.
    int32_t reach(std::span<const base::Token> tokens, int32_t shared) const {
        return stashes_.reach(tokens, shared);
    }

    /// Takes a slot that begins with `match`, and reserves room up to `reserved` cells in all. Nothing when there is no
    /// room even if every donor goes, or when they cannot all be copied in this turn. What does not share leaves nothing to
    /// others, and is not reported.
    /// REQUIRES: fewer slots running than Limits::sequences.
    std::optional<base::Slot> admit(const PrefixTree::Match& match, int32_t reserved, bool shares);

    /// Reserves up to `wanted` more cells for running sequences; how many it became. 0 when there is none to be had.
    int32_t reserve(int32_t wanted);

    /// A running `slot` has computed these tokens, in cells that were reserved for it.
    void append(base::Slot slot, std::span<const base::Token> tokens);

    /// A running `slot` has computed more than it holds, in cells that were reserved for it: those are given back.
    void trim(base::Slot slot);

    /// What host memory has of a text, for find_stash().
    Stashes::Way look_up(std::span<const base::Token> tokens) const { return stashes_.look_up(tokens); }
    /// What host memory has of a running sequence's text, of which `there` tokens are there.
    std::optional<Stashes::Found> find_stash(const Stashes::Way& way, int32_t there) const;
    /// Plans to copy it back, into cells that were reserved. False when that has to wait for the next turn.
    bool restore(const Stashes::Found& found, int32_t there);
    /// How it went. What came back is appended as if it were computed.
    void restored(base::StashId stash, bool is_ok) { stashes_.used(stash, is_ok); }
    /// See Stashes::made().
    void stashed(base::StashId stash, uint64_t bytes, bool is_kept) { stashes_.made(stash, bytes, is_kept); }

    void not_stashed(base::StashId stash) { stashes_.forget(stash); }

    /// A piece that another context of the same model left, with checkpoints at these lengths; 0 when it has no place.
    base::StashId adopt(std::span<const base::Token> text, int32_t first, std::vector<int32_t> checkpoints,
                        uint64_t bytes);

    /// Gives up donors, as many as can be copied to host memory in one turn.
    void give_up_donors();

    /// Saves the state of a running `slot` where it stands, where that is of use. The oldest go when there are too many.
    void save(base::Slot slot);

    /// A checkpoint is no good: its state could not be saved.
    void forget(base::CheckpointId checkpoint);

    /// All cells are empty, by no operation of ours. What is in host memory stays.
    /// REQUIRES: nobody runs.
    void clear();

    /// Takes a part out of what a running `slot` has computed and moves what follows down; its room ahead stays. False,
    /// with nothing changed, where cells cannot be moved or another running one holds what would have to move.
    bool shift(base::Slot slot, const Cut& cut);

    /// A running `slot` stops; `unused` cells were reserved for it beyond what it computed.
    void leave(base::Slot slot, int32_t unused, Keep keep);

    /// What happened since the last call, in order. A turn ends with it.
    std::vector<CellOp> take_ops();

    /// Beginnings can be shared at all.
    bool are_shared() const { return limits_.donors > 0; }
    /// They can be shared at checkpoints only.
    bool have_checkpoints() const { return limits_.checkpoints > 0; }

    /// Cells that running sequences hold or have reserved.
    int32_t reserved() const { return tree_.cells_pinned() + ahead_; }
    /// Cells that only donors hold.
    int32_t cached() const { return tree_.cells() - tree_.cells_pinned(); }
    const Stashes& stashes() const { return stashes_; }
    const PrefixTree& tree() const { return tree_; }
    /// Whether what a slot holds is there for others.
    bool is_shared(base::Slot slot) const { return is_shared_[static_cast<size_t>(slot)]; }
    /// What others could reuse, for reports; null where nobody wants any.
    KvBlocks* blocks() const { return blocks_.get(); }
    /// Tokens that a slot holds.
    int32_t length(base::Slot slot) const { return tree_.length(slot); }

    /// Asserts that every slot is in one place, `running` ones included, and that `ahead` cells are reserved.
    void check_integrity(std::span<const base::Slot> running, int32_t ahead) const;

private:
    /// What becomes of a donor that would have to be copied when no more may be copied in this turn.
    enum class Hurry { waits, is_lost };

    /// A shorter donor is of no use: where a state cannot be cut, no checkpoint was made of it.
    int32_t donor_min() const { return have_checkpoints() ? kWorthMin : 1; }
    bool make_room(int32_t cells, Hurry hurry);
    bool make_slot(base::Slot needed);
    bool give_up_donor(std::vector<base::Slot>::iterator donor, Hurry hurry);
    bool stash(base::Slot slot, Hurry hurry);
    bool stash_piece(base::Slot slot, std::span<const base::Token> text, int32_t first);
    bool may_copy(int32_t tokens) const { return copied_ == 0 || copied_ + tokens <= kCopyMax; }
    void free_slot(base::Slot slot);
    void drop_moved_tail(base::Slot slot);
    void drop_checkpoints();
    void drop_stashes();

    const Limits limits_;
    PrefixTree tree_;
    std::unique_ptr<KvBlocks> blocks_;
    Stashes stashes_;
    std::vector<base::Slot> slots_free_;
    std::vector<bool> is_shared_;
    /// Slots of ended sequences, least recently used first.
    std::vector<base::Slot> donors_;
    /// Cells reserved for running sequences and not yet filled.
    int32_t ahead_ = 0;
    /// Tokens to be copied in this turn, out and back.
    int32_t copied_ = 0;
    base::CheckpointId checkpoints_made_ = 0;
    std::vector<CellOp> ops_;
};

} // namespace sched
