// Decides who runs: which waiting sequences are admitted, and who gives way to them. Part of Scheduler::schedule().
#include "sched/scheduler.h"

#include <algorithm>
#include <iterator>

namespace sched {

namespace {

/// Number of requests considered for admission per step. The ones behind them are considered a step later.
constexpr size_t kAdmissionsConsidered = 32;

} // namespace

/// If no slot is free, requests of a higher priority take those of a lower one.
void Scheduler::make_way() {
    if (!has_all_slots() || !waiting_.has_above(running_.back()->priority())) return;
    for (const Sequence* sequence : waiting_.first(kAdmissionsConsidered)) {
        if (running_.empty() || sequence->priority() <= running_.back()->priority()) return;
        // One that waits for another's computation would not be admitted: the other would get its slot back at once.
        if (!is_being_computed(*sequence, find_prefix(*sequence).length)) preempt(*running_.back());
    }
}

/// What runs in the background is preempted for the cells of others, before it has an entry in this step.
void Scheduler::admit_before_background() {
    if (running_.empty() || !running_.back()->is_background() || waiting_.size() == waiting_.background())
        return;
    for (Sequence* sequence : waiting_.first(kAdmissionsConsidered)) {
        if (sequence->is_background() || !running_.back()->is_background()) return;
        drop_turns_if_full(*sequence);
        PrefixTree::Match match = find_prefix(*sequence);
        if (is_being_computed(*sequence, match.length)) continue;
        // With nothing else, a sequence always fits.
        while (has_all_slots() || !admit(*sequence, match)) {
            if (!running_.back()->is_background()) return;
            preempt(*running_.back());
            match = find_prefix(*sequence);
        }
    }
}

/// Strictly in the queue's order: if a small request passed a large one, the large one would starve. The exception is a request
/// that waits for another's computation: it would gain nothing by going first.
void Scheduler::admit_waiting() {
    if (has_all_slots() || waiting_.size() == 0) return;
    for (Sequence* sequence : waiting_.first(kAdmissionsConsidered)) {
        if (is_set_aside(*sequence)) return;
        drop_turns_if_full(*sequence);
        const PrefixTree::Match match = find_prefix(*sequence);
        if (is_being_computed(*sequence, match.length)) continue;
        if (!admit(*sequence, match) || has_all_slots()) return;
    }
}

/// A waiting sequence can only be full if it lost its cells right after its last token.
void Scheduler::drop_turns_if_full(Sequence& sequence) {
    if (sequence.is_full()) drop_turns(sequence, sequence.next_cut());
}

/// The part of a sequence's prefix that can be shared now.
PrefixTree::Match Scheduler::find_prefix(const Sequence& sequence) const {
    if (!sequence.request().uses_cache) return {};
    return kv_cache_.find_prefix(sharable(sequence));
}

/// Whether a running sequence is about to compute more of this one's prefix than can be shared now.
bool Scheduler::is_being_computed(const Sequence& sequence, int32_t shared) const {
    if (!kv_cache_.shares_prefixes() || !sequence.request().uses_cache) return false;
    shared = kv_cache_.host_tier().reach(sharable(sequence), shared); // swapping in is faster than computing
    const auto will_have_more = [&](const Sequence* other) {
        if (other->is_decoding() || !other->request().uses_cache) return false;
        if (other->is_background() && !sequence.is_background())
            return false; // it would be set aside, or slow
        if (other->space() != sequence.space()) return false;
        const auto [end, _] = std::ranges::mismatch(other->tokens(), sequence.tokens());
        const auto common = static_cast<int32_t>(end - other->tokens().begin());
        const int32_t later = will_share(*other, base::last_edge(other->tokens(), common));
        return later > other->computed() && later - shared >= KvCacheManager::kWorthMin;
    };
    return std::ranges::any_of(running_, will_have_more);
}

/// How much of a common prefix can be shared once the leader has computed it.
int32_t Scheduler::will_share(const Sequence& leader, int32_t common) const {
    if (!kv_cache_.needs_checkpoints()) return common;
    const std::vector<int32_t>& boundaries = leader.request().boundaries;
    const auto beyond = std::ranges::upper_bound(boundaries, common);
    return beyond == boundaries.begin() ? 0 : *std::prev(beyond);
}

/// False if there are not enough cells.
bool Scheduler::admit(Sequence& sequence, const PrefixTree::Match& match) {
    const int32_t reserved = reservation(sequence);
    const Request& request = sequence.request();
    const std::optional<base::Slot> slot =
        kv_cache_.admit(match, reserved, request.uses_cache, sequence.space());
    if (!slot) return false;
    waiting_.leave(sequence);
    sequence.admit(*slot, match.length, reserved);
    sequence.note_step(steps_);
    plan_.starts.push_back({.id = sequence.id(), .slot = *slot, .cached = match.length});
    const auto is_later = [&](const Sequence* other) { return sequence.goes_before(*other); };
    running_.insert(std::ranges::find_if(running_, is_later), &sequence);
    return true;
}

/// The part of a sequence that need not be computed if it is found elsewhere. The last token is always computed for its logits.
Text Scheduler::sharable(const Sequence& sequence) {
    const int32_t length = base::last_edge(sequence.tokens(), sequence.length() - 1);
    return {sequence.tokens().first(static_cast<size_t>(length)), sequence.space()};
}

} // namespace sched
