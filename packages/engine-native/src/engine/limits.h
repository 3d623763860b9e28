// What the scheduler may use of a model and its context: places, cells, donors and checkpoints.
#pragma once

#include "base/types.h"
#include "llama/context/context.h"
#include "llama/model/model.h"
#include "sched/request.h"

#include <cstdint>
#include <vector>

namespace engine {

/// These options, or as little as a context can have: a model that generates nothing needs no room for it.
llama_rt::ContextOptions options_for(const llama_rt::Model& model, llama_rt::ContextOptions options);

/// Sequences that the context must be able to tell apart: the running ones and the donors.
int32_t slots_of(const llama_rt::Model& model, const llama_rt::ContextOptions& options);

/// At most `stash_bytes` of host memory for evicted state; none where it could not be used.
/// Computes a token to find the size of a recurrent state; the context must be empty, and is afterwards.
sched::Limits limits_of(const llama_rt::Model& model, llama_rt::Context& context,
                        const llama_rt::ContextOptions& options, uint64_t stash_bytes);

/// Lengths of a prompt at which a checkpoint is worth it; none where the model needs no checkpoints.
std::vector<int32_t> boundaries_of(const llama_rt::Model& model, const std::vector<base::Token>& prompt);

} // namespace engine
