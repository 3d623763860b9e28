// How much memory an Embedder needs, before it is created. It is planned for when an embedding model is loaded, and compared
// with the available memory when a generative model makes embeddings.
#pragma once

#include "llama/embedding/embedder.h"
#include "llama/model/model.h"

#include <cstdint>

namespace llama_rt {

/// Most bytes that an Embedder with these options needs: its KV cache and the computation of its largest batch.
uint64_t embedder_bytes(const Model& model, const EmbedderOptions& options);

/// Whether the model is an embedding model: its file specifies a pooling, or it cannot generate.
bool is_made_to_embed(const Model& model);

} // namespace llama_rt
