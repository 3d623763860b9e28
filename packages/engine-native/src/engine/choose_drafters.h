// Chooses an engine's drafters by its options.
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "engine/speculation.h"
#include "llama/context/context.h"
#include "llama/context/context_params.h"
#include "llama/context/measure.h"
#include "llama/model/model.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace engine {

/// Null if the model cannot take drafts back. Without speculation, only requests with a prediction have drafts. `context` are the
/// options with which the model's context `target` was created, which must outlive the result. Fails as DraftModel::create() and
/// DraftContext::create() do, and with `invalid_argument` if there is no memory to take drafts back.
base::Result<std::unique_ptr<Speculation>> choose_drafters(const EngineOptions& options,
                                                           const llama::ContextOptions& context,
                                                           const std::shared_ptr<const llama::Model>& model,
                                                           llama::Context& target);

/// The memory of a context of `model` and its drafters' contexts and weights, which are those of this draft model and of these options;
/// null for none. Fails as measure() does, and as check_speculator() does.
base::Result<std::vector<llama::MemoryUse>> measure_drafting(const llama::Model& model,
                                                             const llama::ContextOptions& context,
                                                             const llama::Model* draft_model,
                                                             int32_t draft_tokens);

} // namespace engine
