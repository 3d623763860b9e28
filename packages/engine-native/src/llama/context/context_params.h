// What a context is made with: our options in llama.cpp's terms, and whether this machine has the memory for them. Used for every context
// that is made or measured.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

#include "llama.h"

namespace llama_rt {

class Model;

/// llama.cpp's own limit (LLAMA_MAX_SEQ). With one fewer there is one to spare, which copies go through.
inline constexpr int32_t kSlotsMax = 256;

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

/// "auto", "on" or "off".
llama_flash_attn_type flash_attention_type(const std::string& name);

/// llama.cpp's parameters for such a context, whose `slots` sequences can be told apart.
base::Result<llama_context_params> context_params(const Model& model, const ContextOptions& options,
                                                  int32_t slots);

/// Whether the weights and such a KV cache are less than all memory of this machine and its GPUs: of more the kernel would
/// promise what is not there, and end the process when it is touched.
bool fits_machine(const Model& model, const llama_context_params& params);

/// `out_of_memory`, with what the weights and such a KV cache take.
base::Error context_out_of_memory(const Model& model, const llama_context_params& params);

/// Why there is no context, by what llama.cpp said. What it asserts while it makes one, a file decides: `model_invalid`.
base::Error context_failed(const Model& model, const std::string& reason);

} // namespace llama_rt
