#include "engine/host_tier_store.h"

#include <cstring>
#include <new>
#include <utility>

namespace engine {

using llama::Context;
using sched::Copied;

namespace {

/// Copies saved states. False if one of them was not saved, or if there is no memory for a copy.
bool copy_checkpoints(const std::vector<sched::Checkpoint>& checkpoints, const Checkpoints& from,
                      HostTierStore::Segment& to) {
    try {
        for (const auto& [length, id] : checkpoints) {
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
    if (!copy_checkpoints(op.checkpoints, checkpoints, segment))
        return {.copied = Copied::not_tried, .bytes = 0};
    const uint64_t used = bytes_ + size_of(segment);
    const uint64_t room = used < bytes_max_ ? bytes_max_ - used : 0;
    segment.state = context.copy_out(op.slot, op.first, op.length, room);
    const uint64_t bytes = size_of(segment);
    if (segment.state.bytes == nullptr) return {.copied = Copied::failed, .bytes = bytes};
    adopt(op.segment, std::move(segment));
    return {.copied = Copied::done, .bytes = bytes};
}

std::optional<HostTierStore::Segment> HostTierStore::copy(Context& context, const sched::KeptPart& part,
                                                          const Checkpoints& checkpoints,
                                                          uint64_t bytes_max) const {
    Segment copied;
    if (part.slot != base::kNoSlot) {
        if (!copy_checkpoints(part.checkpoints, checkpoints, copied)) return std::nullopt;
        const uint64_t used = size_of(copied);
        copied.state =
            context.copy_out(part.slot, part.first, part.length, used < bytes_max ? bytes_max - used : 0);
        return copied.state.bytes == nullptr ? std::nullopt : std::optional(std::move(copied));
    }
    const Segment* segment = find(part.segment);
    if (segment == nullptr || size_of(*segment) > bytes_max) return std::nullopt;
    const llama::State& state = segment->state;
    copied.state.bytes.reset(new (std::nothrow) uint8_t[state.size]);
    if (copied.state.bytes == nullptr) return std::nullopt;
    std::memcpy(copied.state.bytes.get(), state.bytes.get(), state.size);
    copied.state.size = state.size;
    copied.state.leaps = state.leaps;
    copied.checkpoints = segment->checkpoints;
    return copied;
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
