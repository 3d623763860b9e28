// The parameters of a context: our options in llama.cpp's terms, and whether this machine has the memory for them.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

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
