// One engine step: what it may hold (StepBudget), what the scheduler plans (StepPlan), and its outcome (StepResult). Plain data,
// no behaviour.
//
//     plan = scheduler.schedule(budget);      // KV operations in order, then one batch
//     …the engine executes the plan and fills `result`…
//     scheduler.update(result);               // exactly once for each schedule()
#pragma once

#include "base/types.h"
#include "sched/context_shift.h"

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace sched {

// ---- the budget -------------------------------------------------------------------------------------------

/// A sequence that a step decodes, and its tokens as known so far.
struct DecodingText {
    base::RequestId id;
    std::span<const base::Token> tokens;
};

class DraftSource {
public:
    virtual ~DraftSource() = default;

    /// Called before draft(), with all sequences of a step without prefill, for a source that drafts for them together.
    virtual void prepare(std::span<const DecodingText> /*texts*/) {}

    /// Drafts of the tokens that follow `tokens`, the sequence as known so far: at most `most`, which may be 0, and none if
    /// they are not worth computing. Valid until the next call. Called once for every decoding sequence of a step without
    /// prefill.
    virtual std::span<const base::Token> draft(base::RequestId id, std::span<const base::Token> tokens,
                                               int32_t most) = 0;
};

class ImageSource {
public:
    virtual ~ImageSource() = default;

    /// Called when a sequence has reached this image. True if the image is encoded, so that this step can compute it. If not, its
    /// encoding is started or continues.
    virtual bool prepare(base::RequestId id, base::ImageId image) = 0;
};

/// What a step may hold in addition to one token of each decoding sequence.
struct StepBudget {
    /// Maximum number of prompt tokens while some sequence decodes; at least 1.
    int32_t prefill_busy;
    /// Maximum number of tokens with logits: one for each sequence that samples, including those admitted in this step, one for each
    /// draft, and the tokens of prompts that want all logits. Required for these and for drafts.
    int32_t outputs = 0;
    /// Whether what an eviction would lose is copied to host memory, and waits for its turn. If not, it is lost, and no request waits.
    bool copies_evicted = true;
    /// Null: no drafts.
    DraftSource* drafts = nullptr;
    /// Required if prompts contain images.
    ImageSource* images = nullptr;
};

// ---- KV operations ----------------------------------------------------------------------------------------

/// Empties `slot`.
struct FreeSlot {
    base::Slot slot;
};

/// Makes `slot`, which is empty, also hold the first `length` cells of `from`. Its recurrent state becomes that of `checkpoint`,
/// if there is one.
struct SharePrefix {
    base::Slot from;
    base::Slot slot;
    int32_t length;
    base::CheckpointId checkpoint;
};

/// Frees the cells of `slot` after its first `length`: they were computed for rejected drafts.
struct TrimSlot {
    base::Slot slot;
    int32_t length;
};

/// Frees the cells of `slot` in `cut`. The cells after them, which no other slot holds, move down to their positions.
struct ShiftCells {
    base::Slot slot;
    Cut cut;
};

/// Saves the recurrent state of `slot`, which holds `length` tokens.
struct SaveCheckpoint {
    base::Slot slot;
    int32_t length;
    base::CheckpointId checkpoint;
};

struct DropCheckpoint {
    base::CheckpointId checkpoint;
};

/// A saved recurrent state of a sequence after `length` tokens.
struct Checkpoint {
    int32_t length;
    base::CheckpointId id;
};

/// Copies what `slot` holds from `first` to `length` to host memory, and these checkpoints with it. Recurrent state is copied
/// as it is, so `length` is then all that the slot holds.
struct SwapOut {
    base::SegmentId segment;
    base::Slot slot;
    int32_t first;
    int32_t length;
    std::vector<Checkpoint> checkpoints;
};

/// Copies a part of a segment back: `slot`, which holds `first` tokens, then holds `length`.
struct SwapIn {
    base::SegmentId segment;
    base::Slot slot;
    int32_t first;
    int32_t length;
    base::RequestId id;
    /// Whether the request was preempted before: these may be tokens that it computed itself.
    bool is_resumed;
};

struct DropSegment {
    base::SegmentId segment;
};

using KvOp = std::variant<FreeSlot, SharePrefix, TrimSlot, ShiftCells, SaveCheckpoint, DropCheckpoint,
                          SwapOut, SwapIn, DropSegment>;

// ---- the plan ---------------------------------------------------------------------------------------------

/// A sequence that had filled the context has dropped its oldest chat turns.
struct ContextShift {
    base::RequestId id;
    Cut cut;
    /// Whether the sequence lost its cells and computes the remaining tokens again; otherwise its cells were moved.
    bool is_recomputed;
};

/// A request starts to run: for the first time, after a preemption, or after a context shift that could not move its cells.
struct Start {
    base::RequestId id;
    base::Slot slot;
    /// Number of tokens of its prefix that were found in the prefix cache.
    int32_t cached;
};

/// The part of the batch for one sequence: tokens from position `first` on, all of them text or all of one image.
struct BatchEntry {
    base::RequestId id;
    base::Slot slot;
    int32_t first;
    std::span<const base::Token> tokens;
    /// Whether the tokens reach the sequence's end, so that its next token is sampled from the last logits.
    bool samples;
    /// Drafts of the tokens that follow, computed beside them: an accepted draft needs no step of its own.
    std::span<const base::Token> drafts = {};
    /// Number of the image's tokens that are already computed; 0 for text.
    int32_t image_offset = 0;
    /// Whether logits are computed for all tokens.
    bool wants_all_logits = false;

    bool is_image() const { return base::is_image(tokens.front()); }
    /// Number of tokens with logits before the last one.
    size_t outputs_before_last() const { return wants_all_logits ? tokens.size() - 1 : 0; }
};

/// Valid until the scheduler's next non-const call.
struct StepPlan {
    std::vector<ContextShift> shifts;
    std::vector<Start> starts;
    /// Executed in this order, before the batch.
    std::vector<KvOp> kv_ops;
    /// Texts before images. A sequence with a SwapIn has no entry.
    std::vector<BatchEntry> batch;

    bool is_empty() const { return shifts.empty() && kv_ops.empty() && batch.empty(); }

    /// The tokens whose state is copied to host memory.
    int32_t copied_tokens() const {
        int32_t tokens = 0;
        for (const KvOp& op : kv_ops) {
            if (const auto* copy = std::get_if<SwapOut>(&op)) tokens += copy->length - copy->first;
        }
        return tokens;
    }
};

// ---- the result -------------------------------------------------------------------------------------------

/// The outcome of a batch entry.
struct Outcome {
    enum class Kind {
        /// Computed. If the entry samples, `token` is the sequence's next one.
        advanced,
        /// Computed, `token` was sampled, and the sequence ends with it.
        finished,
        /// Computed, but sampling takes longer than this step: `late_tokens` of a later step has the token. Until then the
        /// sequence has no entry.
        awaits_token,
        /// Not computed: the request ends.
        failed,
        /// Not computed, and nothing has changed: the scheduler plans it again.
        skipped,
    };
    Kind kind;
    /// How many of the entry's drafts were sampled, one after the other, before `token`.
    int32_t accepted = 0;
    base::Token token = 0;
};

/// The outcome of a copy. `not_tried`: an operation before it failed.
enum class Copied { done, failed, not_tried };

struct SwappedOut {
    Copied copied;
    /// The memory that the segment takes, or would have taken.
    uint64_t bytes;
};

/// The token of a sequence whose outcome was `awaits_token` in an earlier step.
struct LateToken {
    base::RequestId id;
    base::Token token;
    /// Whether the sequence ends with it.
    bool is_last;
};

struct StepResult {
    /// Checkpoints whose state could not be saved.
    std::vector<base::CheckpointId> failed_checkpoints = {};
    /// One for each SwapOut, and one for each SwapIn, in the plan's order.
    std::vector<SwappedOut> swap_outs = {};
    std::vector<Copied> swap_ins = {};
    /// One for each entry of the batch.
    std::vector<Outcome> outcomes = {};
    /// REQUIRES: Scheduler::awaits_token() before update().
    std::vector<LateToken> late_tokens = {};
    /// Other requests that end here.
    std::vector<base::RequestId> failed = {};
    /// The KV cache was emptied. Running sequences return to the waiting queue and are computed again.
    bool is_cache_lost = false;

    /// Keeps the vectors' capacity.
    void clear() {
        failed_checkpoints.clear();
        swap_outs.clear();
        swap_ins.clear();
        outcomes.clear();
        late_tokens.clear();
        failed.clear();
        is_cache_lost = false;
    }
};

} // namespace sched
