// What the scheduler is told and what it answers. Plain data: no llama.cpp, no clock, no text.
#pragma once

#include "base/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sched {

/// Constant for the life of a scheduler; every number is at least 1.
struct Limits {
    /// Cells of KV cache in total. At least context_length, so that any one request can run alone.
    int32_t cells;
    /// Most tokens of one sequence.
    int32_t context_length;
    /// Sequences that may run at the same time.
    int32_t sequences;
    /// Most tokens in one turn.
    int32_t batch_tokens;
    /// Most prompt tokens in one turn while some sequence is decoding.
    int32_t batch_tokens_busy;
    /// Cells reserved ahead of what a sequence has, so that it does not ask for each token anew.
    int32_t reserve_ahead;
};

struct Request {
    base::RequestId id;
    /// Requests of one client are served in order of arrival; clients share fairly.
    std::string client;
    /// 1 … context_length - 1.
    int32_t prompt_tokens;
    /// Most tokens to generate, at least 1; prompt_tokens + generate_max <= context_length.
    int32_t generate_max;
};

/// Part of a turn: compute `count` tokens of a sequence, from position `first` on.
struct Step {
    base::RequestId id;
    base::Slot slot;
    int32_t first;
    int32_t count;
    /// The step reaches the sequence's end, so that its last logits give the next token.
    bool sample;
};

/// One turn. Valid until the scheduler's next plan().
struct Plan {
    /// Slots whose cells must be freed before anything is computed.
    std::vector<base::Slot> released;
    std::vector<Step> steps;
};

/// What became of a step.
enum class Outcome {
    /// Computed; where the step was to sample, one token was added to the sequence.
    advanced,
    /// Computed, one token was added, and the sequence ends with it.
    finished,
    /// Not computed: the sequence ends.
    failed,
};

struct Counters {
    int32_t running = 0;
    int32_t waiting = 0;
    int32_t cells_reserved = 0;
    uint64_t preemptions = 0;
};

} // namespace sched
