#include "sched/cells.h"

#include "base/result.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sched {

using base::Slot;

Cells::Cells(const Limits& limits) : limits_(limits), tree_(limits.sequences + limits.donors) {
    for (Slot slot = limits.sequences + limits.donors - 1; slot >= 0; --slot) slots_free_.push_back(slot);
}

PrefixTree::Match Cells::find(std::span<const base::Token> tokens) const {
    if (!are_shared()) return {};
    const PrefixTree::Match match =
        have_checkpoints() ? tree_.longest_checkpoint(tokens) : tree_.longest(tokens);
    return match.length < kShareMin ? PrefixTree::Match{} : match;
}

std::optional<Slot> Cells::admit(const PrefixTree::Match& match, int32_t reserved) {
    const Slot slot = slots_free_.back();
    slots_free_.pop_back();
    if (match.length > 0) {
        tree_.share(slot, match);
        ops_.push_back({.kind = CellOp::Kind::share,
                        .slot = slot,
                        .from = match.holder,
                        .length = match.length,
                        .checkpoint = match.checkpoint});
    }
    tree_.pin(slot); // before room is made, so that what was matched is not given up
    const int32_t wanted = reserved - match.length;
    if (!make_room(wanted)) {
        tree_.unpin(slot);
        tree_.release(slot);
        slots_free_.push_back(slot);
        if (match.length > 0) ops_.pop_back();
        return std::nullopt;
    }
    ahead_ += wanted;
    tree_.touch(match.checkpoint);
    // A donor that was of use stays longest.
    const auto donor = std::ranges::find(donors_, match.holder);
    if (donor != donors_.end()) std::rotate(donor, std::next(donor), donors_.end());
    return slot;
}

int32_t Cells::reserve(int32_t wanted) {
    if (!make_room(1)) return 0;
    const int32_t granted = std::min(wanted, limits_.cells - tree_.cells() - ahead_);
    ahead_ += granted;
    return granted;
}

void Cells::append(Slot slot, std::span<const base::Token> tokens) {
    tree_.append(slot, tokens);
    ahead_ -= static_cast<int32_t>(tokens.size());
}

void Cells::trim(Slot slot) {
    ops_.push_back({.kind = CellOp::Kind::trim, .slot = slot, .length = tree_.length(slot)});
}

void Cells::save(Slot slot) {
    if (!have_checkpoints() || tree_.length(slot) < kShareMin || tree_.is_marked(slot)) return;
    if (tree_.checkpoints() == limits_.checkpoints) tree_.forget_oldest_checkpoint();
    drop_checkpoints();
    const base::CheckpointId checkpoint = ++checkpoints_made_;
    tree_.mark(slot, checkpoint);
    ops_.push_back({.kind = CellOp::Kind::save, .slot = slot, .checkpoint = checkpoint});
}

void Cells::forget(base::CheckpointId checkpoint) {
    tree_.forget(checkpoint);
    drop_checkpoints();
}

void Cells::clear() {
    INGLE_ASSERT(ahead_ == 0);
    while (!donors_.empty()) give_up_donor(donors_.begin());
    ops_.clear(); // there is nothing left to be freed, saved or dropped
}

bool Cells::shift(Slot slot, const Cut& cut) {
    if (!limits_.can_shift) return false;
    // A cell moves for everyone who holds it.
    const std::vector<Slot> sharers = tree_.sharers(slot, cut.end());
    if (std::ranges::any_of(sharers, [this](Slot sharer) { return tree_.is_pinned(sharer); })) return false;
    for (const Slot donor : sharers) give_up_donor(std::ranges::find(donors_, donor));
    tree_.shift(slot, cut);
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
        // Where it stands now, a chat's next turn goes on.
        save(slot);
    }
    tree_.unpin(slot);
    if (keep == Keep::yes && are_shared() && tree_.length(slot) >= kShareMin) add_donor(slot);
    else free_slot(slot);
}

std::vector<CellOp> Cells::take_ops() {
    return std::exchange(ops_, {});
}

/// Gives up donors until so many more cells can be reserved. False, with nothing changed, when even all of them would
/// not be enough.
bool Cells::make_room(int32_t cells) {
    if (tree_.cells_pinned() + ahead_ + cells > limits_.cells) return false;
    while (tree_.cells() + ahead_ + cells > limits_.cells) {
        INGLE_ASSERT(!donors_.empty());
        give_up_donor(donors_.begin());
    }
    return true;
}

void Cells::add_donor(Slot slot) {
    donors_.push_back(slot);
    if (static_cast<int32_t>(donors_.size()) <= limits_.donors) return;
    // One that another holds nearly all of is no loss; else the one that was longest of no use.
    const auto is_redundant = [this](Slot donor) { return tree_.private_length(donor) < kShareMin; };
    const auto redundant = std::ranges::find_if(donors_, is_redundant);
    give_up_donor(redundant == donors_.end() ? donors_.begin() : redundant);
}

void Cells::give_up_donor(std::vector<Slot>::iterator donor) {
    const Slot slot = *donor;
    donors_.erase(donor);
    free_slot(slot);
}

void Cells::free_slot(Slot slot) {
    tree_.release(slot);
    slots_free_.push_back(slot);
    ops_.push_back({.kind = CellOp::Kind::free, .slot = slot});
    drop_checkpoints();
}

void Cells::drop_checkpoints() {
    for (const base::CheckpointId checkpoint : tree_.take_dropped()) {
        ops_.push_back({.kind = CellOp::Kind::drop, .checkpoint = checkpoint});
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
