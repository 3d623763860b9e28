// Makes a context's parameters: converts our options to llama.cpp's, and checks that this machine has the memory for them.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/backend.h"
#include "process/thread_placement.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "llama.h"

namespace llama {

class Model;

/// Maximum number of sequences in a context: llama.cpp's limit (LLAMA_MAX_SEQ). Copies of states need one of them for themselves.
inline constexpr int32_t kSlotsMax = 256;

/// How positions are stretched so that a model reads longer texts than it was trained for. Zeros and empty strings: as in its
/// file.
struct RopeOptions {
    /// "", "none", "linear" or "yarn".
    std::string scaling = {};
    float freq_base = 0;
    float freq_scale = 0;
    int32_t yarn_original_length = 0;
    /// Below 0: as in the file.
    float yarn_ext_factor = -1;
    float yarn_attn_factor = -1;
    float yarn_beta_fast = -1;
    float yarn_beta_slow = -1;

    bool is_default() const { return *this == RopeOptions(); }
    bool operator==(const RopeOptions&) const = default;
};

constexpr auto fields_of(const RopeOptions*) {
    constexpr base::Rule<float> kFactor{.min = -1, .max = 1e6F};
    return base::rows(
        base::field("ropeScaling", &RopeOptions::scaling),
        base::field("ropeFreqBase", &RopeOptions::freq_base, {.min = 0, .max = 1e12F}),
        base::field("ropeFreqScale", &RopeOptions::freq_scale, {.min = 0, .max = 1e6F}),
        base::field("yarnOriginalLength", &RopeOptions::yarn_original_length, {.min = 0, .max = 1 << 28}),
        base::field("yarnExtFactor", &RopeOptions::yarn_ext_factor, kFactor),
        base::field("yarnAttnFactor", &RopeOptions::yarn_attn_factor, kFactor),
        base::field("yarnBetaFast", &RopeOptions::yarn_beta_fast, kFactor),
        base::field("yarnBetaSlow", &RopeOptions::yarn_beta_slow, kFactor));
}

struct ContextOptions {
    /// Maximum number of tokens per sequence.
    int32_t context_length;
    /// KV cells of all sequences together.
    int32_t cells;
    /// Number of sequences that run at the same time.
    int32_t sequences;
    /// Maximum number of tokens per batch.
    int32_t batch_tokens;
    int32_t threads;
    int32_t threads_batch;
    std::string kv_type_k;
    std::string kv_type_v;
    /// "auto", "on" or "off".
    std::string flash_attention;
    /// Maximum number of tokens that a device computes at once; 0 means the batch size.
    int32_t ubatch_tokens = 0;
    /// Whether the KV cache and attention are on the devices of their layers.
    bool offloads_kv = true;
    RopeOptions rope = {};
    process::ThreadPlacement placement = {};
    /// Whether all sequences share one pool of cells: "auto", "on" or "off".
    std::string kv_unified = "on";
    /// Each sequence has a stream of `context_length` cells instead. Decided from `kv_unified` when a context is planned
    /// (engine/limits.h).
    bool has_streams = false;
    /// How many of a sequence's last tokens can be taken back although its state is recurrent. Decided from the memory that it takes
    /// when a context is planned (engine/limits.h).
    int32_t rollback = 0;
    /// Whether the model's layers for multi-token prediction draft: "auto", "on" or "off".
    std::string mtp = "off";
    /// Decided from `mtp` when a context is planned (engine/limits.h): there is a context of them, too, and hidden states are kept.
    bool has_mtp = false;
    /// Layers whose input is kept for every token, for a speculator (llama/model/speculator.h); the number of layers stands for the last
    /// one's output. Not together with `has_mtp`.
    std::vector<int32_t> tapped_layers = {};
    /// How many of the likeliest tokens each output selects where its logits are computed (Context::likeliest()). Negative: as many as
    /// most requests need if that is on a device whose memory is not the processor's, else none.
    int32_t selected = -1;

    int32_t tokens_at_once() const {
        return ubatch_tokens > 0 ? std::min(ubatch_tokens, batch_tokens) : batch_tokens;
    }
};

constexpr auto fields_of(const ContextOptions*) {
    constexpr int32_t kCellsMax = 1 << 28;
    return base::rows(
        base::field("contextLength", &ContextOptions::context_length, {.min = 3, .max = kCellsMax}),
        base::field("cells", &ContextOptions::cells, {.min = 2, .max = kCellsMax}),
        base::field("parallel", &ContextOptions::sequences, {.min = 1, .max = kSlotsMax}),
        base::field("batchTokens", &ContextOptions::batch_tokens, {.min = 1, .max = 1 << 20}),
        base::field("threads", &ContextOptions::threads, kThreads),
        base::field("threadsBatch", &ContextOptions::threads_batch, kThreads),
        base::field("kvTypeK", &ContextOptions::kv_type_k),
        base::field("kvTypeV", &ContextOptions::kv_type_v),
        base::field("flashAttention", &ContextOptions::flash_attention),
        base::field("ubatchTokens", &ContextOptions::ubatch_tokens, {.min = 0, .max = 1 << 20}),
        base::field("kvOffload", &ContextOptions::offloads_kv),
        base::field("kvUnified", &ContextOptions::kv_unified), base::field("mtp", &ContextOptions::mtp),
        base::inlined(&ContextOptions::rope), base::inlined(&ContextOptions::placement));
}

/// Checks that any one request can run alone, and that a step has room for a token of every sequence.
inline const char* relate(ContextOptions& options) {
    options.batch_tokens = std::max(options.batch_tokens, options.sequences);
    return options.cells < options.context_length ? "cells" : nullptr;
}

/// The longest text that the model reads with these positions: what it was trained for, or more if they are stretched.
int32_t length_max(const Model& model, const RopeOptions& rope);

/// Sets what differs from the model's file.
void apply(const RopeOptions& rope, llama_context_params& params);

/// llama.cpp's value for "auto", "on" or "off".
llama_flash_attn_type flash_attention_type(const std::string& name);

/// llama.cpp's parameters for a context of `slots` sequences. Fails as kv_types() does, and with `invalid_argument` for options that
/// have no effect on this model or machine.
base::Result<llama_context_params> context_params(const Model& model, const ContextOptions& options,
                                                  int32_t slots);

/// How many of the likeliest tokens each output selects with these options: ContextOptions::selected.
size_t selected_candidates(const Model& model, const ContextOptions& options);

/// Lets each output select so many tokens from the next batch on, and batches of replies keep their graph: where outputs select, a
/// device computes, for which graphs take long to build.
void select_candidates(llama_context* context, size_t selected);

/// How many sequences more than `slots` and the spare one the context has, whose rows fill batches (llama/context/filler_rows.h). None
/// with streams, where idle ones fill; none where outputs do not select, because the logits of rows for nothing would come back, and
/// none for models whose sequences have large states, or nothing but states: llama.cpp computes only adjacent ones together.
int32_t filler_sequences(const Model& model, const ContextOptions& options, int32_t slots);

/// Whether the weights and the KV cache together fit into the total memory of this machine and its GPUs. If they do not, the
/// kernel may still grant the memory, and kill the process when it is used.
bool fits_machine(const Model& model, const llama_context_params& params);

/// `out_of_memory`, with the sizes of the weights and the KV cache.
base::Error context_out_of_memory(const Model& model, const llama_context_params& params);

/// Keeps what ContextOptions::tapped_layers names, from the next batch on. Throws what llama.cpp asserts, at once or when the context's
/// graph is laid out, if the architecture's graph does not give it.
void tap_layers(llama_context* context, const std::vector<int32_t>& layers);

/// The error for a context with tapped layers that was not created for `reason`: `invalid_argument` if the layers are why.
base::Error untappable(const Model& model, const base::Error& reason);

/// The error for llama.cpp's reason for not creating a context. Failed assertions are the file's fault: `model_invalid`; else
/// `engine_failed`.
base::Error context_failed(const Model& model, const std::string& reason);

} // namespace llama
