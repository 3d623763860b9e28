#include "engine/host_tier_store.h"

#include <new>
#include <utility>

namespace engine {

using llama_rt::Context;
using sched::Copied;

namespace {

/// Copies saved states. False if one of them was not saved, or if there is no memory for a copy.
bool copy_checkpoints(const sched::SwapOut& op, const Checkpoints& from, HostTierStore::Segment& to) {
    try {
        for (const auto& [length, id] : op.checkpoints) {
            const auto saved = from.find(id);
            if (saved == from.end() || saved->second.empty()) return false;
            to.checkpoints.emplace(length, saved->second);
        }
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

} // namespace

sched::SwappedOut HostTierStore::swap_out(Context& context, const sched::SwapOut& op,
                                          const Checkpoints& checkpoints) {
    Segment segment;
    if (!copy_checkpoints(op, checkpoints, segment)) return {.copied = Copied::not_tried, .bytes = 0};
    const uint64_t used = bytes_ + size_of(segment);
    const uint64_t room = used < bytes_max_ ? bytes_max_ - used : 0;
    segment.state = context.copy_out(op.slot, op.first, op.length, room);
    const uint64_t bytes = size_of(segment);
    if (segment.state.bytes == nullptr) return {.copied = Copied::failed, .bytes = bytes};
    adopt(op.segment, std::move(segment));
    return {.copied = Copied::done, .bytes = bytes};
}

bool HostTierStore::swap_in(Context& context, const sched::SwapIn& op) const {
    const Segment* segment = find(op.segment);
    if (segment == nullptr) return false;
    const auto checkpoint = segment->checkpoints.find(op.length);
    return context.copy_in(
        op.slot, {.state = segment->state,
                  .first = op.first,
                  .length = op.length,
                  .checkpoint = checkpoint == segment->checkpoints.end() ? nullptr : &checkpoint->second});
}

void HostTierStore::drop(base::SegmentId id) {
    const auto found = segments_.find(id);
    if (found == segments_.end()) return;
    bytes_ -= size_of(found->second);
    segments_.erase(found);
}

void HostTierStore::adopt(base::SegmentId id, Segment segment) {
    bytes_ += size_of(segment);
    segments_.emplace(id, std::move(segment));
}

const HostTierStore::Segment* HostTierStore::find(base::SegmentId id) const {
    const auto found = segments_.find(id);
    return found == segments_.end() ? nullptr : &found->second;
}

uint64_t HostTierStore::size_of(const Segment& segment) {
    uint64_t bytes = segment.state.size;
    for (const auto& [length, checkpoint] : segment.checkpoints) bytes += checkpoint.size();
    return bytes;
}

} // namespace engine
