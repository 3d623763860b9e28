// The scheduler's limits for a model and its context: slots, cells, cached sequences and checkpoints.
#pragma once

#include "base/types.h"
#include "llama/context/context.h"
#include "llama/model/model.h"
#include "sched/request.h"

#include <cstdint>
#include <vector>

namespace engine {

/// The context's options: these, or the least possible for a model that generates no text.
llama_rt::ContextOptions options_for(const llama_rt::Model& model, llama_rt::ContextOptions options);

/// Sequences that the context must be able to hold: running and cached ones.
int32_t slots_of(const llama_rt::Model& model, const llama_rt::ContextOptions& options);

/// With at most `host_tier_bytes` for the host KV tier, or none if the model cannot use it. Computes a token to measure the size
/// of recurrent state. REQUIRES: an empty context, which is empty again afterwards.
sched::Limits limits_of(const llama_rt::Model& model, llama_rt::Context& context,
                        const llama_rt::ContextOptions& options, uint64_t host_tier_bytes);

/// Lengths of a prompt at which a checkpoint is worth saving; none if the model needs no checkpoints.
std::vector<int32_t> boundaries_of(const llama_rt::Model& model, const std::vector<base::Token>& prompt);

} // namespace engine
