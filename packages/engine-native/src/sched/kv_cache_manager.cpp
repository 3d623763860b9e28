#include "sched/kv_cache_manager.h"

#include "base/result.h"
#include "base/types.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
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

KvCacheManager::KvCacheManager(const Limits& limits)
    : limits_(limits),
      tree_(limits.sequences + limits.cached_sequences),
      host_tier_(limits.host_tier_bytes, limits.checkpoint_bytes),
      is_reported_(static_cast<size_t>(limits.sequences + limits.cached_sequences)),
      spaces_(is_reported_.size()) {
    if (limits.block_tokens > 0 && shares_prefixes()) {
        blocks_ = std::make_unique<KvBlocks>(limits.block_tokens, limits.block_seed);
        host_tier_.report_to(blocks_.get());
    }
    for (Slot slot = limits.sequences + limits.cached_sequences - 1; slot >= 0; --slot)
        free_slots_.push_back(slot);
}

PrefixTree::Match KvCacheManager::find_prefix(const Text& text) const {
    if (!shares_prefixes()) return {};
    return needs_checkpoints() ? tree_.longest_checkpoint(text) : tree_.longest(text);
}

std::optional<Slot> KvCacheManager::admit(const PrefixTree::Match& match, int32_t reserved, bool shares,
                                          std::string_view space) {
    if (!make_free_slot(match.holder)) return std::nullopt;
    const Slot slot = free_slots_.back();
    free_slots_.pop_back();
    const auto undo = static_cast<std::ptrdiff_t>(ops_.size());
    tree_.begin(slot, space);
    if (match.length > 0) {
        tree_.share(slot, match);
        ops_.emplace_back(SharePrefix{
            .from = match.holder, .slot = slot, .length = match.length, .checkpoint = match.checkpoint});
    }
    tree_.pin(slot); // before room is made, so that the match itself is not evicted
    // A cached sequence that helped becomes the most recently used, even if this request has to wait: it must not be evicted
    // meanwhile. One that shares only the template's first tokens did not help.
    const auto cached = std::ranges::find(cached_slots_, match.holder);
    if (match.length >= kWorthMin && cached != cached_slots_.end())
        std::rotate(cached, std::next(cached), cached_slots_.end());
    const int32_t wanted = reserved - match.length;
    if (!make_room(wanted, OverCopyLimit::wait)) {
        tree_.unpin(slot);
        tree_.release(slot);
        add_free_slot(slot);
        if (match.length > 0) ops_.erase(ops_.begin() + undo);
        return std::nullopt;
    }
    ahead_ += wanted;
    tree_.touch(match.checkpoint);
    spaces_[static_cast<size_t>(slot)] = space;
    is_reported_[static_cast<size_t>(slot)] = shares && space.empty();
    // With checkpoints, what can be reused ends at the last checkpoint: save_checkpoint() reports it.
    if (blocks_ != nullptr && is_reported(slot) && !needs_checkpoints())
        blocks_->keep(keeper_of(slot), tree_.text(slot));
    return slot;
}

int32_t KvCacheManager::reserve(int32_t wanted) {
    if (!make_room(1, OverCopyLimit::lose)) return 0;
    const int32_t granted = std::min(wanted, limits_.cells - tree_.cells() - ahead_);
    ahead_ += granted;
    return granted;
}

void KvCacheManager::append(Slot slot, std::span<const base::Token> tokens) {
    tree_.append(slot, tokens);
    if (blocks_ != nullptr && !tree_.has_moved(slot)) blocks_->append(keeper_of(slot), tokens);
    ahead_ -= static_cast<int32_t>(tokens.size());
}

void KvCacheManager::trim(Slot slot) {
    ops_.emplace_back(TrimSlot{.slot = slot, .length = tree_.length(slot)});
}

std::optional<HostTier::Match> KvCacheManager::find_segment(const HostTier::Matches& matches,
                                                            int32_t computed) const {
    const HostTier::Match match = host_tier_.find(matches, computed);
    // The whole segment is copied before it is cut, which for a moment takes cells that are not reserved.
    const bool has_room = tree_.cells_pinned() + ahead_ + match.surplus(computed) <= limits_.cells;
    return match.segment == 0 || !has_room ? std::nullopt : std::optional(match);
}

bool KvCacheManager::swap_in(const HostTier::Match& match, const SwapIn& op) {
    if (!may_copy(match.end - match.first)) return false;
    copied_ += match.end - match.first;
    host_tier_.begin_swap_in(match.segment);
    const bool has_room = make_room(match.surplus(op.first), OverCopyLimit::lose);
    INGLE_ASSERT(has_room); // find_segment() has checked it
    ops_.emplace_back(op);
    return true;
}

base::SegmentId KvCacheManager::adopt(const Text& text, int32_t first, std::vector<int32_t> checkpoints,
                                      uint64_t bytes) {
    const base::SegmentId segment = host_tier_.add(text, first, std::move(checkpoints));
    if (segment != 0) host_tier_.swapped_out(segment, {.copied = Copied::done, .bytes = bytes});
    return segment;
}

void KvCacheManager::evict_cached_sequences() {
    while (!cached_slots_.empty() && evict(cached_slots_.begin(), OverCopyLimit::wait)) {
    }
}

void KvCacheManager::copy_ahead() {
    auto slots = static_cast<int32_t>(free_slots_.size());
    int32_t cells = limits_.cells - tree_.cells() - ahead_;
    for (const Slot slot : cached_slots_) {
        if (slots >= limits_.sequences && cells >= limits_.cells / kReadyShare) return;
        if (!swap_out(slot, OverCopyLimit::wait, HostTier::kSegmentMax)) return;
        slots += 1;
        cells += tree_.private_length(slot);
    }
}

void KvCacheManager::save_checkpoint(Slot slot) {
    if (!needs_checkpoints() || tree_.length(slot) < kWorthMin || tree_.is_marked(slot)) return;
    if (tree_.checkpoints() == limits_.checkpoints) tree_.forget_oldest_checkpoint();
    plan_dropped_checkpoints();
    const base::CheckpointId checkpoint = ++checkpoints_made_;
    tree_.mark(slot, checkpoint);
    if (blocks_ != nullptr && is_reported(slot) && !tree_.has_moved(slot))
        blocks_->keep(keeper_of(checkpoint), tree_.text(slot));
    ops_.emplace_back(SaveCheckpoint{.slot = slot, .length = tree_.length(slot), .checkpoint = checkpoint});
}

void KvCacheManager::forget_checkpoint(base::CheckpointId checkpoint) {
    tree_.forget(checkpoint);
    plan_dropped_checkpoints();
}

void KvCacheManager::clear() {
    INGLE_ASSERT(ahead_ == 0);
    for (const Slot cached : std::exchange(cached_slots_, {})) free_slot(cached);
    host_tier_.cancel_swap_ins();
    // Only the host KV tier has anything left to drop.
    std::erase_if(ops_, [](const KvOp& op) { return !std::holds_alternative<DropSegment>(op); });
}

bool KvCacheManager::shift(Slot slot, const Cut& cut) {
    if (!limits_.can_shift) return false;
    // A cell moves for every sequence that holds it.
    const std::vector<Slot> sharers = tree_.sharers(slot, cut.end());
    if (std::ranges::any_of(sharers, [this](Slot sharer) { return tree_.is_pinned(sharer); })) return false;
    for (const Slot cached : sharers) evict(std::ranges::find(cached_slots_, cached), OverCopyLimit::lose);
    tree_.shift(slot, cut);
    if (blocks_ != nullptr) blocks_->truncate(keeper_of(slot), cut.keep);
    ops_.emplace_back(ShiftCells{.slot = slot, .cut = cut});
    plan_dropped_checkpoints(); // those of the cut part must not be reported any longer
    return true;
}

/// Other sequences cannot use moved cells.
void KvCacheManager::drop_moved_tail(Slot slot) {
    const int32_t length = tree_.length(slot);
    const int32_t unmoved = tree_.unmoved_length(slot);
    if (unmoved == length) return;
    tree_.truncate(slot, unmoved);
    ops_.emplace_back(ShiftCells{.slot = slot, .cut = {.keep = unmoved, .drop = length - unmoved}});
}

void KvCacheManager::leave(Slot slot, int32_t unused, Keep keep) {
    ahead_ -= unused;
    if (keep == Keep::yes) {
        drop_moved_tail(slot);
        if (blocks_ != nullptr) blocks_->settle(keeper_of(slot));
        save_checkpoint(slot); // a chat's next request continues from here
    }
    tree_.unpin(slot);
    if (keep == Keep::yes && shares_prefixes() && tree_.length(slot) >= cached_length_min())
        cached_slots_.push_back(slot);
    else free_slot(slot);
}

void KvCacheManager::take_ops(std::vector<KvOp>& ops) {
    copied_ = 0;
    plan_dropped_segments(); // drops those that could not be swapped in
    ops.clear();
    ops.swap(ops_);
}

/// Evicts cached sequences until `cells` more can be reserved. False if even evicting all of them would not be enough, with
/// nothing changed, or if an eviction has to wait.
bool KvCacheManager::make_room(int32_t cells, OverCopyLimit over_limit) {
    if (tree_.cells_pinned() + ahead_ + cells > limits_.cells) return false;
    while (tree_.cells() + ahead_ + cells > limits_.cells) {
        if (!evict(next_evicted(base::kNoSlot), over_limit)) return false;
    }
    return true;
}

/// The least recently used cached sequence, except the `needed` one; where there are several owners, of the one with the most cells.
std::vector<Slot>::iterator KvCacheManager::next_evicted(Slot needed) {
    const auto owner = [this](Slot slot) { return owner_of(spaces_[static_cast<size_t>(slot)]); };
    std::map<std::string_view, int32_t> cells;
    for (const Slot slot : cached_slots_) cells[owner(slot)] += tree_.length(slot);
    auto found = cached_slots_.end();
    int32_t most = -1;
    for (auto slot = cached_slots_.begin(); slot != cached_slots_.end(); ++slot) {
        if (*slot == needed || cells.at(owner(*slot)) <= most) continue;
        found = slot;
        most = cells.at(owner(*slot));
    }
    INGLE_ASSERT(found != cached_slots_.end()); // cached sequences have slots beyond those that may run
    return found;
}

/// Makes sure that a slot is free, without evicting the `needed` one. False if the eviction has to wait.
bool KvCacheManager::make_free_slot(Slot needed) {
    if (!free_slots_.empty()) return true;
    // Evict a sequence of which another one holds nearly all cells, otherwise the next one.
    const auto is_redundant = [&](Slot cached) {
        return cached != needed && tree_.private_length(cached) < kWorthMin;
    };
    auto cached = std::ranges::find_if(cached_slots_, is_redundant);
    if (cached == cached_slots_.end()) cached = next_evicted(needed);
    return evict(cached, OverCopyLimit::wait);
}

bool KvCacheManager::evict(std::vector<Slot>::iterator cached, OverCopyLimit over_limit) {
    const Slot slot = *cached;
    if (copies_evicted_ && !swap_out(slot, over_limit)) return false;
    cached_slots_.erase(cached);
    free_slot(slot);
    return true;
}

/// Swaps out what would be lost with an evicted sequence. False if some of it has to wait for the next step.
bool KvCacheManager::swap_out(Slot slot, OverCopyLimit over_limit, int32_t copied_max) {
    const int32_t length = tree_.length(slot);
    int32_t first = length - tree_.private_length(slot);
    if (limits_.host_tier_bytes == 0 || length - first < HostTier::kSegmentMin) return true;
    if (needs_checkpoints()) first = tree_.checkpoint_before(slot, first);
    const std::vector<base::Token> text = tree_.text(slot);
    const std::string& space = spaces_[static_cast<size_t>(slot)];
    first = host_tier_.reach({text, space}, first);
    while (length - first >= HostTier::kSegmentMin) {
        const int32_t end = segment_end(text, first);
        if (!may_copy(end - first, copied_max)) return over_limit == OverCopyLimit::lose;
        const auto part = std::span(text).first(static_cast<size_t>(end));
        if (!swap_out_segment(slot, {part, space}, first)) return true;
        first = end;
    }
    return true;
}

/// Where the segment of a text that begins at `first` ends. Recurrent state cannot be cut: all of it is one segment.
int32_t KvCacheManager::segment_end(std::span<const base::Token> text, int32_t first) const {
    const auto length = static_cast<int32_t>(text.size());
    const bool is_last =
        needs_checkpoints() || length - first < HostTier::kSegmentMax + HostTier::kSegmentMin;
    return is_last ? length : base::next_edge(text, first + HostTier::kSegmentMax);
}

std::vector<Checkpoint> KvCacheManager::checkpoints_between(Slot slot, int32_t first, int32_t length) const {
    std::vector<Checkpoint> checkpoints = tree_.checkpoints_of(slot);
    std::erase_if(checkpoints, [&](const auto& one) { return one.length <= first || one.length >= length; });
    return checkpoints;
}

/// Whether a slot holds nothing but a prefix of the text.
bool KvCacheManager::is_within(Slot slot, const Text& text) const {
    if (spaces_[static_cast<size_t>(slot)] != text.space) return false;
    const std::vector<base::Token> held = tree_.text(slot);
    return held.size() <= text.tokens.size() && std::ranges::equal(held, text.tokens.first(held.size()));
}

/// The cached sequence that holds most of the text, and nothing else; kNoSlot without one.
Slot KvCacheManager::find_cached(const Text& text) const {
    Slot longest = base::kNoSlot;
    for (const Slot slot : cached_slots_) {
        if (longest != base::kNoSlot && tree_.length(slot) <= tree_.length(longest)) continue;
        if (is_within(slot, text)) longest = slot;
    }
    return longest;
}

std::optional<KeptPart> KvCacheManager::find_part(const Text& text, int32_t computed) const {
    // A recurrent state is that of the slot's last token, so it is copied from a slot that does not run.
    const PrefixTree::Match shared = needs_checkpoints() ? PrefixTree::Match{} : find_prefix(text);
    const Slot slot = needs_checkpoints() ? find_cached(text) : shared.holder;
    const int32_t length = needs_checkpoints() && slot != base::kNoSlot ? tree_.length(slot) : shared.length;
    if (length > computed) {
        const int32_t end = segment_end(text.tokens.first(static_cast<size_t>(length)), computed);
        return KeptPart{.slot = slot,
                        .first = computed,
                        .length = end,
                        .checkpoints = checkpoints_between(slot, computed, end)};
    }
    HostTier::Matches matches = host_tier_.look_up(text);
    std::erase_if(matches, [](const HostTier::Match& match) { return match.length != match.end; });
    const HostTier::Match match = host_tier_.find(matches, computed);
    if (match.segment == 0) return std::nullopt;
    return KeptPart{.segment = match.segment, .first = match.first, .length = match.length};
}

/// How many of a text's first tokens are kept.
int32_t KvCacheManager::kept(const Text& text) const {
    int32_t computed = 0;
    while (const std::optional<KeptPart> part = find_part(text, computed)) computed = part->length;
    return computed;
}

int32_t KvCacheManager::erase(const Text& text) {
    const int32_t before = kept(text);
    for (const Slot slot : std::vector(cached_slots_)) {
        if (!is_within(slot, text)) continue;
        std::erase(cached_slots_, slot);
        free_slot(slot);
    }
    host_tier_.erase(text);
    plan_dropped_segments();
    return before - kept(text);
}

/// False if the host KV tier has no room for it.
bool KvCacheManager::swap_out_segment(Slot slot, const Text& text, int32_t first) {
    const auto length = static_cast<int32_t>(text.tokens.size());
    std::vector<Checkpoint> checkpoints = checkpoints_between(slot, first, length);
    std::vector<int32_t> stops;
    for (const Checkpoint& checkpoint : checkpoints) stops.push_back(checkpoint.length);
    const base::SegmentId segment = host_tier_.add(text, first, std::move(stops));
    plan_dropped_segments();
    if (segment == 0) return false;
    copied_ += length - first;
    ops_.emplace_back(SwapOut{.segment = segment,
                              .slot = slot,
                              .first = first,
                              .length = length,
                              .checkpoints = std::move(checkpoints)});
    return true;
}

void KvCacheManager::add_free_slot(Slot slot) {
    free_slots_.insert(std::ranges::lower_bound(free_slots_, slot, std::ranges::greater()), slot);
}

void KvCacheManager::free_slot(Slot slot) {
    tree_.release(slot);
    if (blocks_ != nullptr) blocks_->release(keeper_of(slot));
    add_free_slot(slot);
    ops_.emplace_back(FreeSlot{.slot = slot});
    plan_dropped_checkpoints();
}

void KvCacheManager::plan_dropped_checkpoints() {
    for (const base::CheckpointId checkpoint : tree_.take_dropped()) {
        if (blocks_ != nullptr) blocks_->release(keeper_of(checkpoint));
        ops_.emplace_back(DropCheckpoint{.checkpoint = checkpoint});
    }
}

void KvCacheManager::plan_dropped_segments() {
    for (const base::SegmentId segment : host_tier_.take_dropped())
        ops_.emplace_back(DropSegment{.segment = segment});
}

void KvCacheManager::check_integrity(std::span<const Slot> running, int32_t ahead) const {
    std::vector<bool> is_taken(static_cast<size_t>(limits_.sequences + limits_.cached_sequences), false);
    const auto take = [&](Slot slot) {
        INGLE_ASSERT(slot >= 0 && static_cast<size_t>(slot) < is_taken.size() &&
                     !is_taken[static_cast<size_t>(slot)]);
        is_taken[static_cast<size_t>(slot)] = true;
    };
    for (const Slot slot : running) take(slot);
    for (const Slot slot : cached_slots_) take(slot);
    for (const Slot slot : free_slots_) {
        take(slot);
        INGLE_ASSERT(tree_.length(slot) == 0);
    }
    INGLE_ASSERT(std::ranges::find(is_taken, false) == is_taken.end());
    INGLE_ASSERT(ahead == ahead_ && tree_.cells_pinned() <= tree_.cells());
    INGLE_ASSERT(tree_.cells() + ahead <= limits_.cells);
}

} // namespace sched
