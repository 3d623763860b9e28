// The memory of the context for embeddings: how much it takes, on which devices, and whether that is available. For an embedding
// model it is planned when the model is loaded; for a generative model the context is created for the first request, within what
// the plan left.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/context/context.h"
#include "llama/context/measure.h"
#include "llama/embedding/embedder.h"
#include "llama/model/model.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace engine {

using base::MemoryBytes;

/// A memory limit in bytes.
struct MemoryLimits {
    /// A memory that is not listed has no limit.
    std::vector<MemoryBytes> memories = {};
    /// The limit for all memories together.
    uint64_t total_bytes = std::numeric_limits<uint64_t>::max();
};

constexpr auto fields_of(const MemoryLimits*) {
    return base::rows(base::field("memories", &MemoryLimits::memories),
                      base::field("totalBytes", &MemoryLimits::total_bytes));
}

/// Options of a context for texts of this length, for an engine with these options.
llama::EmbedderOptions embedder_options(const llama::ContextOptions& options, int32_t length);

/// Maximum number of tokens per text.
int32_t embedding_length_max(const llama::Model& model, const llama::ContextOptions& options);

/// Whether the memory of the context for embeddings is part of the model's plan. Any thread.
bool plans_embeddings(const llama::Model& model);

/// The memory to plan for embeddings: that of a context for the longest texts, or none. Fails as Embedder::measure() does, and
/// may be called where that may.
base::Result<std::vector<llama::MemoryUse>> planned_embedding_memory(const llama::Model& model,
                                                                     const llama::ContextOptions& options);

/// The memory of a context for texts of `length` tokens; `out_of_memory` if it is more than `limits` allow or than is free now. In
/// the first case, the error has the needed memory.
base::Result<std::vector<MemoryBytes>> embedding_memory_within(const MemoryLimits& limits,
                                                               const llama::Model& model,
                                                               const llama::EmbedderOptions& options);

} // namespace engine
