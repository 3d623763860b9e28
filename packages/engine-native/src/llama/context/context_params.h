// The parameters of a context: our options in llama.cpp's terms, and whether this machine has the memory for them.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "llama.h"

namespace llama_rt {

class Model;

/// Most sequences of a context: llama.cpp's limit (LLAMA_MAX_SEQ). Copies of states need one of them for themselves.
inline constexpr int32_t kSlotsMax = 256;

struct ContextOptions {
    /// Most tokens of one sequence.
    int32_t context_length;
    /// KV cells that all sequences share.
    int32_t cells;
    /// Sequences that run at the same time.
    int32_t sequences;
    /// Most tokens of one batch.
    int32_t batch_tokens;
    int32_t threads;
    int32_t threads_batch;
    std::string kv_type_k;
    std::string kv_type_v;
    /// "auto", "on" or "off".
    std::string flash_attention;
};

constexpr auto fields_of(const ContextOptions*) {
    constexpr int32_t kCellsMax = 1 << 28;
    return std::tuple(
        base::field("contextLength", &ContextOptions::context_length, {.min = 3, .max = kCellsMax}),
        base::field("cells", &ContextOptions::cells, {.min = 2, .max = kCellsMax}),
        base::field("parallel", &ContextOptions::sequences, {.min = 1, .max = kSlotsMax}),
        base::field("batchTokens", &ContextOptions::batch_tokens, {.min = 1, .max = 1 << 20}),
        base::field("threads", &ContextOptions::threads, kThreads),
        base::field("threadsBatch", &ContextOptions::threads_batch, kThreads),
        base::field("kvTypeK", &ContextOptions::kv_type_k),
        base::field("kvTypeV", &ContextOptions::kv_type_v),
        base::field("flashAttention", &ContextOptions::flash_attention));
}

/// Any one request must be able to run alone, and a step must hold a token of every sequence.
inline const char* relate(ContextOptions& options) {
    options.batch_tokens = std::max(options.batch_tokens, options.sequences);
    return options.cells < options.context_length ? "cells" : nullptr;
}

/// llama.cpp's value for "auto", "on" or "off".
llama_flash_attn_type flash_attention_type(const std::string& name);

/// llama.cpp's parameters for a context of `slots` sequences. Fails as kv_types() does.
base::Result<llama_context_params> context_params(const Model& model, const ContextOptions& options,
                                                  int32_t slots);

/// Whether the weights and the KV cache together fit into the total memory of this machine and its GPUs. If they do not, the
/// kernel may still grant the memory, and kill the process when it is used.
bool fits_machine(const Model& model, const llama_context_params& params);

/// `out_of_memory`, with the sizes of the weights and the KV cache.
base::Error context_out_of_memory(const Model& model, const llama_context_params& params);

/// The error for llama.cpp's reason for not creating a context. Failed assertions are the file's fault: `model_invalid`; else
/// `engine_failed`.
base::Error context_failed(const Model& model, const std::string& reason);

} // namespace llama_rt
