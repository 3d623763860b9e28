// The identifiers that every layer shares.
#pragma once

#include <cstdint>

namespace base {

/// A token's id in the model's vocabulary. Negative ids are images (base/image_tokens.h).
using Token = int32_t;

/// One of the context's sequences, 0 … sequences - 1: llama.cpp's `llama_seq_id`.
using Slot = int32_t;

inline constexpr Slot kNoSlot = -1;

/// Identifies a request for its whole life. Counts up from 1 and stays below 2^53, so that JavaScript can hold it as a
/// number.
using RequestId = uint64_t;

/// Identifies a saved recurrent state (sched/prefix_tree.h). Counts up from 1; 0 means none.
using CheckpointId = uint64_t;

/// Identifies a segment of the host KV tier (sched/host_tier.h). Counts up from 1; 0 means none.
using SegmentId = uint64_t;

} // namespace base
