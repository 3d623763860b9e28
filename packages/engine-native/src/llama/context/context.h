// The llama_context of one engine: its KV cache, its batch and its compute threads. One thread uses it.
#pragma once

#include "base/result.h"
#include "base/thread_checker.h"
#include "base/types.h"
#include "llama/backend/handles.h"
#include "llama/context/batch.h"
#include "llama/context/context_params.h"
#include "llama/context/kv_types.h"
#include "llama/context/positions.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace llama_rt {

class Model;

/// A part of a sequence's state, copied out of the context.
struct State {
    /// Empty when there was no room.
    std::unique_ptr<uint8_t[]> bytes;
    size_t size = 0;
    /// Of all of the text up to the part's end.
    std::vector<Leap> leaps = {};
};

/// What became of a batch. `failed` and `out_of_memory` are for undo(); the latter may pass by itself. After `worker_lost`
/// the context computes nothing any more.
enum class Decoded { ok, aborted, failed, out_of_memory, worker_lost };

class Context {
public:
    /// `slots` sequences can be told apart, at most kSlotsMax; `options.sequences` of them run at the same time.
    static base::Result<std::unique_ptr<Context>> create(std::shared_ptr<const Model> model,
                                                         const ContextOptions& options, int32_t slots);
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Computes all parts in one batch, all of texts or all of images; together at most `batch_tokens` tokens, of which
    /// outputs_max() may want logits.
    /// Afterwards logits(i) belongs to parts[i]. After anything but `ok` the cells of these positions may be filled or not.
    Decoded decode(std::span<const BatchPart> parts);

    /// After a decode() of these parts that failed: frees what it has filled, so that each part can be tried again. False
    /// when no sequence's state can be trusted any more: clear() is what is left.
    bool undo(std::span<const BatchPart> parts);

    /// Logits of a part that wanted them, those after its first `drafts` guesses; valid until the next decode().
    float* logits(size_t part, size_t drafts = 0);

    /// Whether the model has something to go on from: an encoder keeps nothing between two batches.
    bool can_generate() const;

    /// What computes; for further contexts of the same thread.
    const ThreadpoolPtr& threadpool() const { return threadpool_; }

    /// Tokens of one batch that may want logits: there is room for one of every slot.
    int32_t outputs_max() const;

    /// Frees a sequence's cells from a position on; 0 frees all of it. False when that cannot be done.
    bool remove(base::Slot slot, int32_t from);

    /// Lets `to`, which holds `first` cells, hold those up to `length` of `from` too. Nothing is copied. False when `to`
    /// has got only some of them.
    bool share(base::Slot from, base::Slot to, int32_t first, int32_t length);

    /// Empties every sequence.
    void clear();

    /// Whether the last of these tokens is the last that is computed of a sequence.
    bool ends_at(base::Slot slot, int32_t length);
    /// Whether a sequence has these tokens and maybe more.
    bool reaches(base::Slot slot, int32_t length);

    /// A copy of what a sequence holds from `first` to `length`. Only its size when that is more than `bytes_max`, nothing
    /// when it cannot be made.
    State copy_out(base::Slot slot, int32_t first, int32_t length, uint64_t bytes_max);

    /// What of a copy goes where.
    struct Copy {
        const State& state;
        /// Tokens that the slot holds, and that it is to hold; the copy may begin before and go on beyond.
        int32_t first;
        int32_t length;
        /// What save() gave after `length` tokens; needed where that is not the copy's end and a state cannot be cut.
        const std::vector<uint8_t>* checkpoint;
    };
    /// False when it does not fit; then nothing has changed, or is_torn().
    bool copy_in(base::Slot slot, const Copy& copy);

    /// Nobody knows any more whose state lies where. clear() mends it.
    bool is_torn() const { return is_torn_; }

    /// Whether shift() is of this model and cache.
    bool can_shift() const;

    /// Frees `dropped` of a sequence's cells after its first `kept` ones, and moves those behind down into their
    /// positions. These it must share with nobody. False when only a part of that was done.
    bool shift(base::Slot slot, int32_t kept, int32_t dropped);

    /// What of a sequence's state is that of its last token alone: convolutions, state spaces. Empty when it cannot be had.
    std::vector<uint8_t> save(base::Slot slot);

    /// Gives a sequence such a state instead of its own. False when it does not fit.
    bool restore(base::Slot slot, const std::vector<uint8_t>& state);

    /// Bytes of one saved state of this model, found by trying. The context must be empty.
    size_t measure_state_bytes();

    /// Any thread: the decode under way, and every later one, ends soon with `aborted`.
    void abort() { is_aborted_.store(true); }

    /// Whether a machine that holds a part of the model has gone: nothing in the context can be trusted then. Any thread.
    bool is_worker_lost() const;

    /// Bytes that a token takes of the KV cache; 0 without one.
    uint64_t token_bytes() const;

private:
    struct Computed {
        Decoded decoded;
        bool is_undone;
    };

    Context(std::shared_ptr<const Model> model, const ContextOptions& options,
            const llama_context_params& params, int32_t slots);
    Computed compute(std::span<const BatchPart> parts);
    State copy_spare(uint64_t bytes_max);

    base::ThreadChecker thread_;
    std::atomic<bool> is_aborted_ = false;

    // Destroyed in reverse: the context lets go of the pool's threads and the model's weights first.
    std::shared_ptr<const Model> model_;
    KvTypes types_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    Batch batch_;
    Positions positions_;
    /// The last batch, or a copy, broke off in a way that mixes up the states of others.
    bool is_torn_ = false;
    /// Cells have moved, and the next batch turns their keys.
    bool is_shifted_ = false;
    /// A sequence of llama.cpp's that is nobody's: llama.cpp copies whole ones, and this one holds the part that is meant.
    base::Slot spare_;
};

} // namespace llama_rt
