#include "llama/embedding/embedder_memory.h"

#include "llama/context/kv_types.h"

#include <algorithm>

namespace llama_rt {

namespace {

/// Rows of the model's width that a token needs while a layer is computed: the feed-forward layer's hidden values (four times
/// the width, twice), inputs and outputs.
constexpr uint64_t kRowsPerToken = 16;

/// Weights, graphs and buffers that do not depend on the length.
constexpr uint64_t kFixedBytes = uint64_t{32} * 1024 * 1024;

} // namespace

bool is_made_to_embed(const Model& model) {
    return !model.info().is_causal || model.info().pooling != Pooling::none;
}

uint64_t embedder_bytes(const Model& model, const EmbedderOptions& options) {
    const auto length = static_cast<uint64_t>(options.length);
    // Only causal models can get a text in parts; for others it is one batch.
    const auto batch = model.info().is_causal
                           ? std::min(length, static_cast<uint64_t>(std::max(options.batch_tokens, 1)))
                           : length;
    const uint64_t cache =
        model.info().is_causal ? length * kv_token_bytes(model, {.k = GGML_TYPE_F16, .v = GGML_TYPE_F16}) : 0;
    const uint64_t width = static_cast<uint64_t>(llama_model_n_embd(model.raw())) * sizeof(float);
    // Without flash attention, every head stores a number for each pair of tokens.
    const uint64_t heads = options.flash_attention == "off"
                               ? static_cast<uint64_t>(std::max(llama_model_n_head(model.raw()), 1))
                               : 1;
    return kFixedBytes + cache + batch * (kRowsPerToken * width + length * heads * sizeof(float));
}

} // namespace llama_rt
