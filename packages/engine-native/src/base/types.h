// The words that every floor shares: what a token, a slot and a request are.
#pragma once

#include <cstdint>

namespace base {

/// A token's id in the model's vocabulary.
using Token = int32_t;

/// One of the context's sequences, 0 … sequences - 1: llama.cpp's `llama_seq_id`.
using Slot = int32_t;

/// Names a request for its whole life. Counts up from 1 and stays below 2^53, so that JS can hold it as a number.
using RequestId = uint64_t;

inline constexpr Slot kNoSlot = -1;

/// Names a saved state of a sequence (sched/request.h). Counts up from 1; 0 is none.
using CheckpointId = uint64_t;

/// Names a piece of evicted state in host memory (sched/stashes.h). Counts up from 1; 0 is none.
using StashId = uint64_t;

} // namespace base
