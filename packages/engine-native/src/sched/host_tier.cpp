#include "sched/host_tier.h"

#include "base/result.h"
#include "base/types.h"
#include "sched/request.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sched {

using base::SegmentId;
using base::Token;

namespace {

/// A segment is copied back as a whole and takes cells for a moment, so swapping it in must gain at least this share (a quarter)
/// of its tokens.
constexpr int32_t kGainedShareMin = 4;

} // namespace

HostTier::Matches HostTier::look_up(const Text& text) const {
    Matches matches;
    const auto texts = texts_.find(text.space);
    if (entries_.empty() || texts == texts_.end()) return matches;
    texts->second.visit(text.tokens, [&](SegmentId id, int32_t common) {
        const Entry& entry = *by_id_.at(id);
        const int32_t length = common > entry.first ? usable_length(entry, text.tokens, common) : 0;
        if (length > entry.first)
            matches.push_back({.segment = id, .first = entry.first, .end = entry.end, .length = length});
    });
    return matches;
}

HostTier::Match HostTier::find(const Matches& matches, int32_t computed) const {
    Match best;
    for (const Match& match : matches) {
        const int32_t gained = match.length - computed;
        if (match.first > computed || match.length <= best.length || gained < kSegmentMin) continue;
        if (gained < (match.end - match.first) / kGainedShareMin || !by_id_.contains(match.segment)) continue;
        best = match;
    }
    return best;
}

int32_t HostTier::reach(const Text& text, int32_t computed) const {
    const Matches matches = look_up(text);
    for (Match match = find(matches, computed); match.segment != 0; match = find(matches, computed))
        computed = match.length;
    return computed;
}

/// How many tokens of a text are computed after swapping in a segment that has its first `common` tokens.
int32_t HostTier::usable_length(const Entry& entry, std::span<const Token> tokens, int32_t common) const {
    common = base::last_edge(tokens, common);
    if (checkpoint_bytes_ == 0) return common;
    auto beyond = std::ranges::upper_bound(entry.stops, common);
    // A request that was cancelled inside an image may have left a cut there.
    while (beyond != entry.stops.begin() && base::is_inside_image(tokens, *std::prev(beyond))) --beyond;
    return beyond == entry.stops.begin() ? 0 : *std::prev(beyond);
}

SegmentId HostTier::add(const Text& text, int32_t first, std::vector<int32_t> checkpoints) {
    const auto end = static_cast<int32_t>(text.tokens.size());
    Entry entry{.id = ++segments_made_,
                .owner = uses_.try_emplace(std::string(owner_of(text.space))).first,
                .texts = texts_.end(),
                .text = nullptr,
                .first = first,
                .end = end,
                .stops = {},
                .bytes = 0};
    entry.owner->second.segments += 1;
    if (checkpoint_bytes_ > 0) {
        entry.stops = std::move(checkpoints);
        entry.stops.push_back(end);
    }
    const uint64_t bytes = fixed_bytes(entry) + token_bytes_ * static_cast<uint64_t>(end - first);
    if (bytes + text.tokens.size_bytes() > bytes_max_) {
        forget_owner(entry);
        return 0; // too large even alone: nothing is dropped for it
    }
    const size_t droppable = touch(text);
    entry.texts = texts_.try_emplace(std::string(text.space)).first;
    entry.text = entry.texts->second.add(text.tokens, entry.id);
    set_bytes(entry, bytes); // before room is made: then its owner may be the one with the most memory
    if (!make_room(droppable)) {
        set_bytes(entry, 0);
        remove_text(entry);
        forget_owner(entry);
        return 0;
    }
    by_id_.emplace(entry.id, entries_.insert(entries_.end(), std::move(entry)));
    touch(text);
    if (blocks_ != nullptr && text.space.empty())
        blocks_->keep({.kind = KvBlocks::Kind::segment, .id = segments_made_}, text.tokens, first);
    return segments_made_;
}

void HostTier::swapped_out(SegmentId segment, const SwappedOut& result) {
    const auto entry = entry_of(segment);
    if (entry == entries_.end()) return; // dropped for another one in the same step
    if (result.copied == Copied::not_tried) return erase(entry);
    const auto tokens = static_cast<uint64_t>(entry->end - entry->first);
    const uint64_t fixed = std::min(result.bytes, fixed_bytes(*entry));
    token_bytes_ = std::max(token_bytes_, (result.bytes - fixed + tokens - 1) / tokens);
    if (result.copied == Copied::failed) {
        erase(entry);
        if (fits(result.bytes)) bytes_max_ = bytes_ + text_bytes();
        return;
    }
    set_bytes(*entry, result.bytes);
    // It may be larger than estimated, and the engine does not count texts.
    make_room(entries_.size());
}

void HostTier::begin_swap_in(SegmentId segment) {
    const auto entry = entry_of(segment);
    INGLE_ASSERT(entry != entries_.end());
    entry->uses += 1;
    touch({entry->text->text(), entry->texts->first});
}

void HostTier::swapped_in(SegmentId segment, Copied copied) {
    const auto entry = entry_of(segment);
    if (entry == entries_.end()) return; // another swap-in of it has failed
    entry->uses -= 1;
    if (copied == Copied::done) swap_ins_ += 1;
    if (copied == Copied::failed) drop(entry);
}

void HostTier::erase(const Text& text) {
    const auto texts = texts_.find(text.space);
    if (texts == texts_.end()) return;
    std::vector<Entries::iterator> erased;
    texts->second.visit(text.tokens, [&](SegmentId id, int32_t common) {
        const Entries::iterator entry = by_id_.at(id);
        if (entry->end == common && entry->uses == 0) erased.push_back(entry);
    });
    for (const Entries::iterator entry : erased) drop(entry);
}

void HostTier::cancel_swap_ins() {
    for (Entry& entry : entries_) entry.uses = 0;
}

std::vector<HostTier::Segment> HostTier::all() const {
    std::vector<Segment> segments;
    for (const Entry& entry : entries_)
        segments.push_back(
            {.id = entry.id, .text = entry.text->text(), .first = entry.first, .space = entry.texts->first});
    return segments;
}

uint64_t HostTier::text_bytes() const {
    uint64_t bytes = 0;
    for (const auto& [space, texts] : texts_) bytes += space.size() + texts.bytes();
    return bytes;
}

/// Only the first `droppable` entries, the least recently used, may be dropped: the others are what a new segment continues.
bool HostTier::make_room(size_t droppable) {
    while (!fits(0) || entries_.size() == kSegmentsMax) {
        const auto entry = find_droppable(droppable);
        if (entry == entries_.end()) return false;
        droppable -= 1;
        drop(entry);
    }
    return true;
}

/// Of the first `droppable` entries, the least recently used one of the owner with the most memory.
HostTier::Entries::iterator HostTier::find_droppable(size_t droppable) {
    auto found = entries_.end();
    for (auto entry = entries_.begin(); droppable > 0; ++entry, --droppable) {
        if (entry->uses > 0) continue;
        if (found == entries_.end() || entry->owner->second.bytes > found->owner->second.bytes) found = entry;
        if (uses_.size() == 1) break;
    }
    return found;
}

/// Makes all segments with a part of this text the most recently used, and of those the ones that begin first. Returns the number
/// of other segments.
size_t HostTier::touch(const Text& text) {
    std::vector<Entries::iterator> touched;
    const auto texts = texts_.find(text.space);
    if (texts == texts_.end()) return entries_.size();
    texts->second.visit(text.tokens, [&](SegmentId id, int32_t common) {
        const Entries::iterator entry = by_id_.at(id);
        if (common > entry->first) touched.push_back(entry);
    });
    const auto begins_later = [](Entries::iterator a, Entries::iterator b) {
        return a->first != b->first ? a->first > b->first : a->id < b->id;
    };
    std::ranges::sort(touched, begins_later);
    for (const Entries::iterator entry : touched) entries_.splice(entries_.end(), entries_, entry);
    return entries_.size() - touched.size();
}

/// Erases a segment, which the engine must drop too.
void HostTier::drop(Entries::iterator entry) {
    dropped_.push_back(entry->id);
    erase(entry);
}

void HostTier::erase(Entries::iterator entry) {
    if (blocks_ != nullptr) blocks_->release({.kind = KvBlocks::Kind::segment, .id = entry->id});
    set_bytes(*entry, 0);
    remove_text(*entry);
    forget_owner(*entry);
    by_id_.erase(entry->id);
    entries_.erase(entry);
}

void HostTier::set_bytes(Entry& entry, uint64_t bytes) {
    bytes_ += bytes - entry.bytes;
    entry.owner->second.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
}

/// The entry is no longer one of its owner's segments.
void HostTier::forget_owner(const Entry& entry) {
    if (--entry.owner->second.segments == 0) uses_.erase(entry.owner);
}

/// Also the tree of a space whose last text it is.
void HostTier::remove_text(const Entry& entry) {
    TextTree& texts = entry.texts->second;
    texts.remove(entry.text, entry.id);
    if (texts.bytes() == 0 && !entry.texts->first.empty()) texts_.erase(entry.texts);
}

HostTier::Entries::iterator HostTier::entry_of(SegmentId segment) {
    const auto found = by_id_.find(segment);
    return found == by_id_.end() ? entries_.end() : found->second;
}

} // namespace sched
