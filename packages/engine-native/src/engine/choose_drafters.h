// Chooses an engine's drafters by its options.
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "engine/speculation.h"
#include "llama/backend/backend.h"
#include "llama/context/context_params.h"
#include "llama/model/model.h"

#include <memory>

namespace engine {

/// Null if the model cannot take drafts back. Without speculation, only requests with a prediction have drafts. `context` are the
/// options with which the model's context was created, and `threadpool` is that context's. Fails as DraftModel::create() and
/// MtpContext::create() do, and with `invalid_argument` if there is no memory to take drafts back.
base::Result<std::unique_ptr<Speculation>>
choose_drafters(const EngineOptions& options, const llama_rt::ContextOptions& context,
                const std::shared_ptr<const llama_rt::Model>& model,
                const llama_rt::ThreadpoolPtr& threadpool);

} // namespace engine
