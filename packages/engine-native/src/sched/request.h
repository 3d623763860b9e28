// What the scheduler is told and what it answers. Plain data: no llama.cpp, no clock, no text.
#pragma once

#include "base/image_tokens.h"
#include "base/types.h"
#include "sched/turns.h"

#include <cstdint>
#include <optional>
#include <span>
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
    /// Ended sequences whose cells are kept for later requests that begin alike; 0 where cells cannot be shared.
    int32_t donors;
    /// Most tokens in one turn.
    int32_t batch_tokens;
    /// Some of a sequence's state is that of its last token alone (convolutions, state spaces): a beginning can be
    /// shared only where a checkpoint of it was saved. Most checkpoints kept; 0 where cells alone are the state.
    int32_t checkpoints;
    /// Cells reserved ahead of what a sequence has, so that it does not ask for each token anew.
    int32_t reserve_ahead;
    /// The tokens of an image see each other: all of them are computed in one step. None may have more than a turn has.
    bool has_whole_images = false;
    /// Computed cells can be moved to other positions (CellOp::Kind::shift).
    bool can_shift = false;
    /// Host memory for the state of donors that are given up; 0 keeps none.
    uint64_t stash_bytes = 0;
    /// Bytes of a checkpoint; 0 where there are none.
    uint64_t checkpoint_bytes = 0;
    /// Tokens of a block in reports of what can be reused (kv_blocks.h); 0 where nobody wants any.
    int32_t block_tokens = 0;
    uint64_t block_seed = 0;
};

struct Request {
    base::RequestId id;
    /// Requests of one client are served in order of arrival; clients share fairly.
    std::string client;
    /// 1 … context_length - 1 tokens; images among them are whole (base/image_tokens.h).
    std::vector<base::Token> prompt;
    /// Most tokens to generate, at least 1. Without `turns`, prompt and these together are at most context_length.
    int32_t generate_max;
    /// Takes part in the sharing of prefixes, in both directions.
    bool uses_cache;
    /// Lengths of the prompt, ascending, at which a checkpoint is worth it: where messages end, never inside an image.
    /// May be empty.
    std::vector<int32_t> boundaries = {};
    /// It goes on past the context's end: then its oldest turns are dropped.
    std::optional<Turns> turns = std::nullopt;
};

/// A sequence that had filled the context has dropped its oldest turns.
struct Shift {
    base::RequestId id;
    Cut cut;
    /// What is left lost its cells and is computed anew; else the cells were moved.
    bool is_recomputed;
};

/// A request has begun to run, the first time or again after a preemption or a shift that could not move its cells.
struct Start {
    base::RequestId id;
    base::Slot slot;
    /// Tokens of its beginning that need not be computed.
    int32_t cached;
};

/// What must happen to the context's cells before anything is computed, in this order.
struct CellOp {
    enum class Kind {
        /// `slot` lets go of all its cells.
        free,
        /// `slot`, which holds nothing, gets the first `length` cells of `from` too, and the state of `checkpoint`.
        share,
        /// The state of `slot` as it is now, after `length` tokens, is saved as `checkpoint`.
        save,
        /// `checkpoint` is needed no more.
        drop,
        /// `slot` drops `dropped` cells after its first `length` ones, and its cells after those, which nobody else
        /// holds, move down into their positions.
        shift,
        /// `slot` lets go of its cells after the first `length`: they were computed for wrong guesses.
        trim,
        /// `stash`, about to be made, gets a copy of `checkpoint`, which was saved after `length` tokens.
        keep,
        /// The state of `slot` from `first` to `length`, its end, is copied to host memory as `stash`.
        stash,
        /// `stash` is needed no more.
        discard,
    };
    Kind kind;
    base::Slot slot = base::kNoSlot;
    base::Slot from = base::kNoSlot;
    int32_t first = 0;
    int32_t length = 0;
    int32_t dropped = 0;
    base::CheckpointId checkpoint = 0;
    base::StashId stash = 0;
};

/// A running sequence goes on with what host memory has of its text: in `slot`, which holds `first` tokens, it gets
/// those up to `length` from `stash`.
struct Restore {
    base::RequestId id;
    base::Slot slot;
    base::StashId stash;
    int32_t first;
    int32_t length;
    /// It has run before and was preempted: these may be tokens that it computed itself.
    bool is_again;
};

/// Part of a turn: compute these tokens of a sequence, from position `first` on. They are text or of one image.
struct Step {
    base::RequestId id;
    base::Slot slot;
    int32_t first;
    std::span<const base::Token> tokens;
    /// The step reaches the sequence's end, so that its last logits give the next token.
    bool sample;
    /// Guesses of what follows `tokens`, computed beside them so that those that prove right need no turn of their own.
    std::span<const base::Token> drafts = {};
    /// Tokens of the image that are computed already; 0 for text.
    int32_t image_offset = 0;

    bool is_image() const { return base::is_image(tokens.front()); }
};

/// One turn. Valid until the scheduler's next call.
struct Plan {
    std::vector<Shift> shifts;
    std::vector<Start> starts;
    std::vector<CellOp> cells;
    /// After `cells`, before anything is computed; none of these sequences has a step in this turn.
    std::vector<Restore> restores;
    /// Those of texts before those of images.
    std::vector<Step> steps;
};

/// What became of a step.
struct Outcome {
    enum class Kind {
        /// Computed; where the step was to sample, `token` was.
        advanced,
        /// Computed, `token` was sampled, and the sequence ends with it.
        finished,
        /// Computed; what is sampled is told later, by Scheduler::sampled(). Until then the sequence has no step.
        sampling,
        /// Not computed: the sequence ends.
        failed,
        /// Not computed, and nothing has changed.
        skipped,
    };
    Kind kind;
    /// Of the step's drafts, so many were what was sampled before `token`.
    int32_t accepted = 0;
    base::Token token = 0;
};

struct Counters {
    int32_t running = 0;
    /// Of the running ones, those whose prompt is computed.
    int32_t decoding = 0;
    int32_t waiting = 0;
    /// Cells that running sequences hold or have reserved.
    int32_t cells_reserved = 0;
    /// Cells that only donors hold: they are given up when they are needed.
    int32_t cells_cached = 0;
    uint64_t preemptions = 0;
    /// Times that a sequence dropped its oldest turns.
    uint64_t shifts = 0;
    /// Host memory in use for state and for the texts that it belongs to, the pieces in it, and how many were copied back so
    /// far.
    uint64_t stash_bytes = 0;
    uint64_t stash_text_bytes = 0;
    int32_t stashes = 0;
    uint64_t stash_hits = 0;
};

} // namespace sched
