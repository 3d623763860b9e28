// The llama_context of one engine: its KV cache, its batch and its compute threads. One thread uses it.
#pragma once

#include "base/result.h"
#include "base/thread_checker.h"
#include "base/types.h"
#include "llama/handles.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace llama_rt {

class Model;

struct ContextOptions {
    int32_t context_length;
    int32_t cells;
    int32_t sequences;
    int32_t batch_tokens;
    int32_t threads;
    int32_t threads_batch;
    std::string kv_type_k;
    std::string kv_type_v;
    /// "auto", "on" or "off".
    std::string flash_attention;
};

/// Some tokens of one sequence, and guesses of those after them, at positions first, first + 1, …
struct BatchPart {
    base::Slot slot;
    int32_t first;
    std::span<const base::Token> tokens;
    /// Logits are wanted for the last token, and for every guess.
    bool wants_logits;
    std::span<const base::Token> drafts = {};
};

/// What became of a batch. `failed` and `out_of_memory` are for undo(); the latter may pass by itself.
enum class Decoded { ok, aborted, failed, out_of_memory };

class Context {
public:
    /// `slots` sequences can be told apart; `options.sequences` of them run at the same time.
    static base::Result<std::unique_ptr<Context>> create(std::shared_ptr<const Model> model,
                                                         const ContextOptions& options, int32_t slots);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    /// Computes all parts in one batch; together at most `batch_tokens` tokens, of which outputs_max() may want logits.
    /// Afterwards logits(i) belongs to parts[i]. After anything but `ok` the cells of these positions may be filled or not.
    Decoded decode(std::span<const BatchPart> parts);

    /// After a decode() of these parts that failed: frees what it has filled, so that each part can be tried again. False
    /// when no sequence's state can be trusted any more: clear() is what is left.
    bool undo(std::span<const BatchPart> parts);

    /// Logits of a part that wanted them, those after its first `drafts` guesses; valid until the next decode().
    float* logits(size_t part, size_t drafts = 0);

    /// Tokens of one batch that may want logits: there is room for one of every slot.
    int32_t outputs_max() const;

    /// Frees a sequence's cells from a position on; 0 frees all of it. False when that cannot be done.
    bool remove(base::Slot slot, int32_t from);

    /// Lets `to`, which holds nothing, hold the first `length` cells of `from` too. Nothing is copied. False when `to`
    /// has got only some of them.
    bool share(base::Slot from, base::Slot to, int32_t length);

    /// Empties every sequence.
    void clear();

    /// Tokens of a sequence that are computed.
    int32_t length(base::Slot slot);

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

    /// Bytes of the KV cache that these options ask for.
    static uint64_t kv_bytes(const Model& model, const ContextOptions& options);

private:
    struct Computed {
        Decoded decoded;
        bool is_undone;
    };

    Context(std::shared_ptr<const Model> model, const ContextOptions& options, int32_t slots);
    Computed compute();

    base::ThreadChecker thread_;
    std::atomic<bool> is_aborted_ = false;

    // Destroyed in reverse: the context lets go of the pool's threads and the model's weights first.
    std::shared_ptr<const Model> model_;
    int type_k_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    llama_batch batch_{};
    int32_t batch_tokens_;
    /// The last batch broke off in a way that mixes up the states of others.
    bool is_torn_ = false;
    /// Cells have moved, and the next batch turns their keys.
    bool is_shifted_ = false;
    /// For each part of the last batch, the batch index of its first logits; -1 without.
    std::vector<int32_t> logits_index_;
};

} // namespace llama_rt
