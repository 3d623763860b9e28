// Holds the bytes of the host KV tier: the swapped-out state, by segment. sched/host_tier.h decides which segments exist. Engine
// thread only.
#pragma once

#include "base/types.h"
#include "llama/context/context.h"
#include "sched/kv_cache_manager.h"
#include "sched/step.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace engine {

/// The saved recurrent states of cached sequences. A state that could not be saved is empty.
using Checkpoints = std::unordered_map<base::CheckpointId, std::vector<uint8_t>>;

class HostTierStore {
public:
    struct Segment {
        llama::State state;
        /// Recurrent states at which the segment can be cut, by length.
        std::map<int32_t, std::vector<uint8_t>> checkpoints;
    };
    static uint64_t size_of(const Segment& segment);

    /// Never holds more than `bytes_max`, except for the checkpoints of a segment that is just being added.
    explicit HostTierStore(uint64_t bytes_max) : bytes_max_(bytes_max) {}

    /// Copies a segment out of the context. `failed` if there is no memory for it; `not_tried` if a checkpoint is missing or
    /// there is no memory for one.
    sched::SwappedOut swap_out(llama::Context& context, const sched::SwapOut& op,
                               const Checkpoints& checkpoints);

    /// A copy of a part of a slot's state, or of a segment. Nothing if it takes more than `bytes_max` or cannot be made.
    std::optional<Segment> copy(llama::Context& context, const sched::KeptPart& part,
                                const Checkpoints& checkpoints, uint64_t bytes_max) const;

    /// Copies a part of a segment back. False if the segment is not held or does not fit; see Context::copy_in().
    bool swap_in(llama::Context& context, const sched::SwapIn& op) const;

    /// Does nothing if the segment could not be swapped out.
    void drop(base::SegmentId id);

    /// Adds a segment that an earlier engine of the same model has saved.
    void adopt(base::SegmentId id, Segment segment);

    /// Null if the segment is not held.
    const Segment* find(base::SegmentId id) const;

    size_t size() const { return segments_.size(); }
    uint64_t bytes() const { return bytes_; }
    uint64_t bytes_max() const { return bytes_max_; }

private:
    const uint64_t bytes_max_;
    uint64_t bytes_ = 0;
    std::unordered_map<base::SegmentId, Segment> segments_;
};

} // namespace engine
