// What a context for embeddings will take, before it is made: planned for where a model is loaded to embed, and compared with
// what can be had where it is made for a model that mostly writes.
#pragma once

#include "llama/embedding/embedder.h"
#include "llama/model/model.h"

#include <cstdint>

namespace llama_rt {

/// Bytes of an Embedder with these options: its cache, and at most what its largest batch needs to be computed.
uint64_t embedder_bytes(const Model& model, const EmbedderOptions& options);

/// The model's file says how the vectors of tokens become one, or it cannot do anything else: it is loaded to embed.
bool is_made_to_embed(const Model& model);

} // namespace llama_rt
