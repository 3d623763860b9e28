// The llama_context of one engine: its KV cache, its batch and its compute threads. Single-threaded.
#pragma once

#include "base/result.h"
#include "base/threads.h"
#include "base/types.h"
#include "llama/backend/backend.h"
#include "llama/context/batch.h"
#include "llama/context/context_params.h"
#include "llama/context/kv_types.h"
#include "llama/context/positions.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llama-cpp.h"

namespace llama {

class Model;

/// A part of a sequence's state, copied out of the context.
struct State {
    /// Null if the copy was too large or failed.
    std::unique_ptr<uint8_t[]> bytes;
    size_t size = 0;
    /// All position leaps of the sequence up to the part's end.
    std::vector<Leap> leaps = {};
};

/// The outcome of a batch. After `failed` and `out_of_memory`, call undo(); running out of memory may be transient. After
/// `worker_lost`, the context is unusable.
enum class Decoded { ok, aborted, failed, out_of_memory, worker_lost };

/// What all batches of a context took: microseconds to build graphs, to launch them and to wait for them, and those that devices computed;
/// and graphs and bytes.
struct BatchCounts {
    uint64_t graph_us;
    uint64_t launch_us;
    uint64_t wait_us;
    uint64_t device_us;
    uint64_t graphs_built;
    uint64_t output_bytes;
};

class Context {
public:
    /// `slots` is the number of sequences, at most kSlotsMax; `options.sequences` of them run at the same time.
    /// `out_of_memory`, `invalid_argument`, `model_invalid`, `engine_failed`, `worker_lost`.
    static base::Result<std::unique_ptr<Context>> create(std::shared_ptr<const Model> model,
                                                         const ContextOptions& options, int32_t slots);
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Lets later batches compute with the model's adapters at these scales: one for each adapter, or none at all.
    void use_adapters(std::span<const float> scales) { scales_.assign(scales.begin(), scales.end()); }

    /// Computes all parts in one batch: all text, or all images; at most `batch_tokens` tokens in total, of which outputs_max()
    /// may want logits. Afterwards, logits(i) belongs to parts[i]. After anything but `ok`, the cells of these positions may or
    /// may not be filled.
    Decoded decode(std::span<const BatchPart> parts);

    /// Frees the cells that a failed decode() of these parts filled, so that each part can be retried. False if no sequence's
    /// state can be trusted any more: then call clear().
    bool undo(std::span<const BatchPart> parts);

    /// Logits of a part's token number `output` of those that wanted them: the last token and the drafts, or all tokens. Tokens that the
    /// model's file forbids have minus infinity, so nothing that reads logits can choose them. Null on failure. Valid until the next
    /// decode().
    float* logits(size_t part, size_t output = 0);

    /// How many of the likeliest tokens each output selects; 0: none.
    size_t selected() const { return selected_; }

    struct Likeliest {
        std::span<const base::Token> tokens;
        std::span<const float> logits;
    };
    /// The selected() likeliest tokens in no order, in place of the logits of a part for which they suffice: the others stay on the
    /// device. Forbidden tokens are among them. Empty on failure. Valid until the next decode().
    Likeliest likeliest(size_t part, size_t output = 0);

    /// Adds the hidden states of a part's token number `token`, drafts included: with ContextOptions::has_mtp the one before the output
    /// matrix, which needs logits; otherwise those of ContextOptions::tapped_layers. False on failure. Valid as long.
    bool add_states(size_t part, size_t token, std::vector<const float*>& states);

    /// Whether the model can generate: it is causal and keeps state between batches, which encoders do not.
    bool can_generate() const;

    /// For the graphs of layers that draft from this context's hidden states.
    llama_context* raw() const { return context_.get(); }

    /// The compute threads, to share with further contexts of the same thread.
    const ThreadpoolPtr& threadpool() const { return threadpool_; }

    /// How many tokens of one batch may want logits: at least one for every slot.
    int32_t outputs_max() const { return outputs_max_; }

    /// Frees a sequence's cells from token `from` on; 0 frees all of them. False if that is not possible.
    bool remove(base::Slot slot, int32_t from);

    /// Lets `to`, which holds `first` tokens, share the cells of `from` up to token `length`. Copies nothing in a pool of cells;
    /// with streams, `first` must be 0, and the cells are copied before the next batch. False on failure; `to` may then hold only
    /// some of them.
    bool share(base::Slot from, base::Slot to, int32_t first, int32_t length);

    /// Empties every sequence.
    void clear();

    /// Whether exactly `length` tokens of a sequence are computed.
    bool ends_at(base::Slot slot, int32_t length);
    /// Whether at least `length` tokens of a sequence are computed.
    bool reaches(base::Slot slot, int32_t length);

    /// Copies a sequence's state from token `first` to `length`. Returns only the size if that is more than `bytes_max`, and
    /// neither if the copy fails.
    State copy_out(base::Slot slot, int32_t first, int32_t length, uint64_t bytes_max);

    /// The part of a copied state to restore.
    struct Copy {
        const State& state;
        /// The number of tokens that the slot holds, and that it will hold afterwards. The copy may begin earlier and end later.
        int32_t first;
        int32_t length;
        /// The result of save() after `length` tokens. Needed for models whose state cannot be cut, unless the copy ends there.
        const std::vector<uint8_t>* checkpoint;
    };
    /// Restores a copied state into a slot. False if it does not fit: then nothing has changed, or is_torn() is true.
    bool copy_in(base::Slot slot, const Copy& copy);

    /// True if the sequences' states may be mixed up; clear() repairs that.
    bool is_torn() const { return is_torn_; }

    /// Whether shift() works with this model and KV cache.
    bool can_shift() const;

    /// Frees `dropped` of a sequence's cells after its first `kept` ones, and moves the later ones to their positions. The
    /// moved cells must not be shared. False if it was only partly done.
    bool shift(base::Slot slot, int32_t kept, int32_t dropped);

    /// The part of a sequence's state that belongs to its last token: convolutions and state spaces. Empty on failure.
    std::vector<uint8_t> save(base::Slot slot);

    /// Replaces that part of a sequence's state by a saved one. False if it does not fit.
    bool restore(base::Slot slot, const std::vector<uint8_t>& state);

    /// Bytes of one save() with this model, measured by computing a token. The context must be empty.
    size_t measure_state_bytes();

    /// Makes the current decode(), and every later one, end soon with `aborted`. Any thread.
    void abort() { is_aborted_.store(true); }

    /// Whether a worker that holds a part of the model was lost: the context is then unusable. Any thread.
    bool is_worker_lost() const;

    BatchCounts counts() const;

    /// Bytes of KV cache per token; 0 without a KV cache.
    uint64_t token_bytes() const;

    /// Whether decode() may return before its batch is computed; logits() waits for that.
    bool is_asynchronous() const { return has_gpu(); }

private:
    Context(std::shared_ptr<const Model> model, const ContextOptions& options,
            const llama_context_params& params, int32_t slots);
    int32_t index_of(size_t part, size_t output) const;
    size_t place_of(size_t part) const;
    State copy_spare(uint64_t bytes_max);
    std::span<const BatchPart> arranged(std::span<const BatchPart> parts);
    std::span<const BatchPart> in_pool(std::span<const BatchPart> parts);
    std::span<const BatchPart> in_streams(std::span<const BatchPart> parts);
    void apply_adapters();
    std::pair<base::Slot, base::Slot> streams_around(base::Slot first, base::Slot last) const;
    void fill_streams(base::Slot from, base::Slot to, bool selects);
    bool remove_fillers();

    base::ThreadChecker thread_;
    std::atomic<bool> is_aborted_ = false;

    // Destroyed in reverse: the context goes before the thread pool and the model that it uses.
    std::shared_ptr<const Model> model_;
    KvTypes types_;
    int32_t outputs_max_;
    /// Whether the options make positions scale keys too.
    bool has_yarn_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    const std::vector<int32_t> tapped_layers_;
    const size_t selected_;
    Batch batch_;
    /// Of the model's adapters: those of the next batch, and those that llama.cpp was given; absent if that failed.
    std::vector<float> scales_;
    std::optional<std::vector<float>> scales_given_ = std::vector<float>();
    Positions positions_;
    /// Cells of each sequence's stream; 0 in a pool of cells.
    int32_t stream_cells_ = 0;
    /// In a pool of cells, sequences after the spare one whose tokens fill batches.
    int32_t filler_sequences_ = 0;
    /// The last batch with the tokens that fill it, by stream if there are any; and where each of decode()'s parts is in it: empty if as
    /// given.
    std::vector<BatchPart> ordered_;
    std::vector<size_t> places_;
    /// A batch or a copy was interrupted, and may have mixed up the sequences' states.
    bool is_torn_ = false;
    /// Cells have moved, and the next batch rotates their keys.
    bool is_shifted_ = false;
    /// An extra sequence for copies: llama.cpp copies whole sequences, so this one holds the part to copy.
    base::Slot spare_;
};

} // namespace llama
