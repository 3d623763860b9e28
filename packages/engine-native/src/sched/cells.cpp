#include "sched/cells.h"

#include "base/image_tokens.h"
#include "base/result.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {

using base::Slot;

namespace {

KvBlocks::Keeper keeper_of(Slot slot) {
    return {.kind = KvBlocks::Kind::sequence, .id = static_cast<uint64_t>(slot)};
}

KvBlocks::Keeper keeper_of(base::CheckpointId checkpoint) {
    return {.kind = KvBlocks::Kind::checkpoint, .id = checkpoint};
}

} // namespace

Cells::Cells(const Limits& limits)
    : limits_(limits),
      tree_(limits.sequences + limits.donors),
      stashes_(limits.stash_bytes, limits.checkpoint_bytes),
      is_shared_(static_cast<size_t>(limits.sequences + limits.donors)) {
    if (limits.block_tokens > 0 && are_shared()) {
        blocks_ = std::make_unique<KvBlocks>(limits.block_tokens, limits.block_seed);
        stashes_.tell(blocks_.get());
    }
    for (Slot slot = limits.sequences + limits.donors - 1; slot >= 0; --slot) slots_free_.push_back(slot);
}

PrefixTree::Match Cells::find(std::span<const base::Token> tokens) const {
    if (!are_shared()) return {};
    return have_checkpoints() ? tree_.longest_checkpoint(tokens) : tree_.longest(tokens);
}

std::optional<Slot> Cells::admit(const PrefixTree::Match& match, int32_t reserved, bool shares) {
    if (!make_slot(match.holder)) return std::nullopt;
    const Slot slot = slots_free_.back();
    slots_free_.pop_back();
    const auto undo = static_cast<std::ptrdiff_t>(ops_.size());
    if (match.length > 0) {
        tree_.share(slot, match);
        ops_.push_back({.kind = CellOp::Kind::share,
                        .slot = slot,
                        .from = match.holder,
                        .length = match.length,
                        .checkpoint = match.checkpoint});
    }
    tree_.pin(slot); // before room is made, so that what was matched is not given up
    // A donor that was of use stays longest; should this one have to wait, it must not be lost meanwhile. One that only begins
    // with the template that all begin with was of no use.
    const auto donor = std::ranges::find(donors_, match.holder);
    if (match.length >= kWorthMin && donor != donors_.end())
        std::rotate(donor, std::next(donor), donors_.end());
    const int32_t wanted = reserved - match.length;
    if (!make_room(wanted, Hurry::waits)) {
        tree_.unpin(slot);
        tree_.release(slot);
        slots_free_.push_back(slot);
        if (match.length > 0) ops_.erase(ops_.begin() + undo);
        return std::nullopt;
    }
    ahead_ += wanted;
    tree_.touch(match.checkpoint);
    is_shared_[static_cast<size_t>(slot)] = shares;
    // Where a state cannot be cut, what can be reused ends at the last checkpoint.
    if (blocks_ != nullptr && shares && !have_checkpoints()) blocks_->keep(keeper_of(slot), tree_.text(slot));
    return slot;
}

int32_t Cells::reserve(int32_t wanted) {
    if (!make_room(1, Hurry::is_lost)) return 0;
    const int32_t granted = std::min(wanted, limits_.cells - tree_.cells() - ahead_);
    ahead_ += granted;
    return granted;
}

void Cells::append(Slot slot, std::span<const base::Token> tokens) {
    tree_.append(slot, tokens);
    if (blocks_ != nullptr && !tree_.has_moved(slot)) blocks_->append(keeper_of(slot), tokens);
    ahead_ -= static_cast<int32_t>(tokens.size());
}

void Cells::trim(Slot slot) {
    ops_.push_back({.kind = CellOp::Kind::trim, .slot = slot, .length = tree_.length(slot)});
}

std::optional<Stashes::Found> Cells::find_stash(const Stashes::Way& way, int32_t there) const {
    const Stashes::Found found = stashes_.find(way, there);
    // All of a piece comes back before it is cut: that takes cells for a moment that are not reserved.
    const bool has_room = tree_.cells_pinned() + ahead_ + found.surplus(there) <= limits_.cells;
    return found.stash == 0 || !has_room ? std::nullopt : std::optional(found);
}

bool Cells::restore(const Stashes::Found& found, int32_t there) {
    if (!may_copy(found.end - found.first)) return false;
    copied_ += found.end - found.first;
    stashes_.use(found.stash);
    INGLE_ASSERT(make_room(found.surplus(there), Hurry::is_lost));
    return true;
}

base::StashId Cells::adopt(std::span<const base::Token> text, int32_t first, std::vector<int32_t> checkpoints,
                           uint64_t bytes) {
    const base::StashId stash = stashes_.add(text, first, std::move(checkpoints));
    if (stash != 0) stashes_.made(stash, bytes, true);
    return stash;
}

void Cells::give_up_donors() {
    while (!donors_.empty() && give_up_donor(donors_.begin(), Hurry::waits)) {
    }
}

void Cells::save(Slot slot) {
    if (!have_checkpoints() || tree_.length(slot) < kWorthMin || tree_.is_marked(slot)) return;
    if (tree_.checkpoints() == limits_.checkpoints) tree_.forget_oldest_checkpoint();
    drop_checkpoints();
    const base::CheckpointId checkpoint = ++checkpoints_made_;
    tree_.mark(slot, checkpoint);
    if (blocks_ != nullptr && is_shared(slot) && !tree_.has_moved(slot))
        blocks_->keep(keeper_of(checkpoint), tree_.text(slot));
    ops_.push_back(
        {.kind = CellOp::Kind::save, .slot = slot, .length = tree_.length(slot), .checkpoint = checkpoint});
}

void Cells::forget(base::CheckpointId checkpoint) {
    tree_.forget(checkpoint);
    drop_checkpoints();
}

void Cells::clear() {
    INGLE_ASSERT(ahead_ == 0);
    for (const Slot donor : std::exchange(donors_, {})) free_slot(donor);
    stashes_.give_up_uses();
    // There is nothing left to be freed, saved or dropped but in host memory.
    std::erase_if(ops_, [](const CellOp& op) { return op.kind != CellOp::Kind::discard; });
}

bool Cells::shift(Slot slot, const Cut& cut) {
    if (!limits_.can_shift) return false;
    // A cell moves for everyone who holds it.
    const std::vector<Slot> sharers = tree_.sharers(slot, cut.end());
    if (std::ranges::any_of(sharers, [this](Slot sharer) { return tree_.is_pinned(sharer); })) return false;
    for (const Slot donor : sharers) give_up_donor(std::ranges::find(donors_, donor), Hurry::is_lost);
    tree_.shift(slot, cut);
    if (blocks_ != nullptr) blocks_->truncate(keeper_of(slot), cut.keep);
    ops_.push_back({.kind = CellOp::Kind::shift, .slot = slot, .length = cut.keep, .dropped = cut.drop});
    return true;
}

/// What was moved is of no use to others.
void Cells::drop_moved_tail(Slot slot) {
    const int32_t length = tree_.length(slot);
    const int32_t unmoved = tree_.unmoved_length(slot);
    if (unmoved == length) return;
    tree_.truncate(slot, unmoved);
    ops_.push_back(
        {.kind = CellOp::Kind::shift, .slot = slot, .length = unmoved, .dropped = length - unmoved});
}

void Cells::leave(Slot slot, int32_t unused, Keep keep) {
    ahead_ -= unused;
    if (keep == Keep::yes) {
        drop_moved_tail(slot);
        if (blocks_ != nullptr) blocks_->settle(keeper_of(slot));
        // Where it stands now, a chat's next turn goes on.
        save(slot);
    }
    tree_.unpin(slot);
    if (keep == Keep::yes && are_shared() && tree_.length(slot) >= donor_min()) donors_.push_back(slot);
    else free_slot(slot);
}

std::vector<CellOp> Cells::take_ops() {
    copied_ = 0;
    drop_stashes(); // of those that failed
    return std::exchange(ops_, {});
}

/// Gives up donors until so many more cells can be reserved. False when even all of them would not be enough, with
/// nothing changed, or when one has to wait.
bool Cells::make_room(int32_t cells, Hurry hurry) {
    if (tree_.cells_pinned() + ahead_ + cells > limits_.cells) return false;
    while (tree_.cells() + ahead_ + cells > limits_.cells) {
        INGLE_ASSERT(!donors_.empty());
        if (!give_up_donor(donors_.begin(), hurry)) return false;
    }
    return true;
}

/// Makes sure of a free slot; the `needed` one stays. False when the donor that has to go has to wait.
bool Cells::make_slot(Slot needed) {
    if (!slots_free_.empty()) return true;
    // One that another holds nearly all of is no loss; else the one that was longest of no use.
    const auto is_redundant = [&](Slot donor) {
        return donor != needed && tree_.private_length(donor) < kWorthMin;
    };
    auto donor = std::ranges::find_if(donors_, is_redundant);
    if (donor == donors_.end())
        donor = std::ranges::find_if(donors_, [&](Slot other) { return other != needed; });
    INGLE_ASSERT(donor != donors_.end()); // fewer run than may, and donors have places of their own
    return give_up_donor(donor, Hurry::waits);
}

bool Cells::give_up_donor(std::vector<Slot>::iterator donor, Hurry hurry) {
    const Slot slot = *donor;
    if (!stash(slot, hurry)) return false;
    donors_.erase(donor);
    free_slot(slot);
    return true;
}

/// Copies to host memory what would be lost with a donor. False when some of it has to wait for the next turn.
bool Cells::stash(Slot slot, Hurry hurry) {
    const int32_t length = tree_.length(slot);
    int32_t there = length - tree_.private_length(slot);
    if (limits_.stash_bytes == 0 || length - there < Stashes::kPieceMin) return true;
    if (have_checkpoints()) there = tree_.checkpoint_before(slot, there);
    const std::vector<base::Token> text = tree_.text(slot);
    there = stashes_.reach(text, there);
    while (length - there >= Stashes::kPieceMin) {
        // A state that cannot be cut is one piece.
        const bool is_rest = have_checkpoints() || length - there < Stashes::kPieceMax + Stashes::kPieceMin;
        const int32_t end = is_rest ? length : base::next_edge(text, there + Stashes::kPieceMax);
        if (!may_copy(end - there)) return hurry == Hurry::is_lost;
        if (!stash_piece(slot, std::span(text).first(static_cast<size_t>(end)), there)) return true;
        there = end;
    }
    return true;
}

/// False when host memory has no place for it.
bool Cells::stash_piece(Slot slot, std::span<const base::Token> text, int32_t first) {
    const auto length = static_cast<int32_t>(text.size());
    std::vector<PrefixTree::Checkpoint> checkpoints = tree_.checkpoints_of(slot);
    std::erase_if(checkpoints, [&](const auto& one) { return one.length <= first || one.length >= length; });
    std::vector<int32_t> stops;
    for (const auto& checkpoint : checkpoints) stops.push_back(checkpoint.length);
    const base::StashId stash = stashes_.add(text, first, std::move(stops));
    drop_stashes();
    if (stash == 0) return false;
    copied_ += length - first;
    for (const auto& checkpoint : checkpoints) {
        ops_.push_back({.kind = CellOp::Kind::keep,
                        .length = checkpoint.length,
                        .checkpoint = checkpoint.checkpoint,
                        .stash = stash});
    }
    ops_.push_back(
        {.kind = CellOp::Kind::stash, .slot = slot, .first = first, .length = length, .stash = stash});
    return true;
}

void Cells::free_slot(Slot slot) {
    tree_.release(slot);
    if (blocks_ != nullptr) blocks_->release(keeper_of(slot));
    slots_free_.push_back(slot);
    ops_.push_back({.kind = CellOp::Kind::free, .slot = slot});
    drop_checkpoints();
}

void Cells::drop_checkpoints() {
    for (const base::CheckpointId checkpoint : tree_.take_dropped()) {
        if (blocks_ != nullptr) blocks_->release(keeper_of(checkpoint));
        ops_.push_back({.kind = CellOp::Kind::drop, .checkpoint = checkpoint});
    }
}

void Cells::drop_stashes() {
    for (const base::StashId stash : stashes_.take_dropped()) {
        ops_.push_back({.kind = CellOp::Kind::discard, .stash = stash});
    }
}

void Cells::check_integrity(std::span<const Slot> running, int32_t ahead) const {
    std::vector<bool> is_taken(static_cast<size_t>(limits_.sequences + limits_.donors), false);
    const auto take = [&](Slot slot) {
        INGLE_ASSERT(slot >= 0 && static_cast<size_t>(slot) < is_taken.size() &&
                     !is_taken[static_cast<size_t>(slot)]);
        is_taken[static_cast<size_t>(slot)] = true;
    };
    for (const Slot slot : running) take(slot);
    for (const Slot slot : donors_) take(slot);
    for (const Slot slot : slots_free_) {
        take(slot);
        INGLE_ASSERT(tree_.length(slot) == 0);
    }
    INGLE_ASSERT(std::ranges::find(is_taken, false) == is_taken.end());
    INGLE_ASSERT(ahead == ahead_ && tree_.cells_pinned() <= tree_.cells());
    INGLE_ASSERT(tree_.cells() + ahead <= limits_.cells);
}

} // namespace sched
