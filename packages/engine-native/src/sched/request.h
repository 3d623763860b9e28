// What the scheduler knows of a request, the limits that it keeps, and the figures that it reports. Plain data.
#pragma once

#include "base/types.h"
#include "sched/context_shift.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sched {

/// Constant for the life of a scheduler; every number without a note is at least 1.
struct Limits {
    /// Cells of the KV cache. At least context_length, so that any one request can run alone.
    int32_t cells;
    /// Most tokens of one sequence.
    int32_t context_length;
    /// Sequences that may run at the same time.
    int32_t sequences;
    /// Ended sequences that may stay in the prefix cache; 0 if cells cannot be shared.
    int32_t cached_sequences;
    /// Most tokens in one step.
    int32_t batch_tokens;
    /// Most checkpoints, for models with recurrent state (convolutions, state spaces): that is the state of a sequence's last
    /// token alone, so a prefix can be shared only where it was saved. 0 for models without such state.
    int32_t checkpoints;
    /// Cells reserved ahead of what a sequence has, so that it does not ask for each token.
    int32_t reserve_ahead;
    /// An image's tokens attend to each other, so one step computes all of them. No image may have more than batch_tokens.
    bool has_whole_images = false;
    /// Computed cells can be moved to other positions (ShiftCells).
    bool can_shift = false;
    /// Size of the host KV tier; 0 disables it.
    uint64_t host_tier_bytes = 0;
    /// Size of a checkpoint; 0 without checkpoints.
    uint64_t checkpoint_bytes = 0;
    /// Tokens of a block in reports of what can be reused (kv_blocks.h); 0 disables the reports.
    int32_t block_tokens = 0;
    uint64_t block_seed = 0;
};

struct Request {
    base::RequestId id;
    /// Requests of one client are served in order of arrival; clients share fairly.
    std::string client;
    /// 1 … context_length - 1 tokens; images in it are complete (base/types.h).
    std::vector<base::Token> prompt;
    /// Most tokens to generate, at least 1. Without `turns`, prompt and generated tokens must fit context_length.
    int32_t generate_max;
    /// Uses the prefix cache, and leaves its own sequence there.
    bool uses_cache;
    /// Lengths of the prompt at which a checkpoint is worth saving: where messages end. Ascending, never inside an image, may
    /// be empty.
    std::vector<int32_t> boundaries = {};
    /// Set if the request goes on when it fills the context: its oldest chat turns are dropped then.
    std::optional<ChatTurns> turns = std::nullopt;
};

/// Without a unit: since the scheduler was made.
struct Counters {
    int32_t running = 0;
    /// Running sequences whose prompt is computed.
    int32_t decoding = 0;
    int32_t waiting = 0;
    /// Cells that running sequences hold or have reserved.
    int32_t cells_reserved = 0;
    /// Cells that only cached sequences hold: they are evicted when cells are needed.
    int32_t cells_cached = 0;
    uint64_t preemptions = 0;
    uint64_t context_shifts = 0;
    /// Host memory of segments' state and of the texts they belong to, and how many segments there are.
    uint64_t host_tier_bytes = 0;
    uint64_t host_tier_text_bytes = 0;
    int32_t segments = 0;
    uint64_t swap_ins = 0;
};

} // namespace sched
