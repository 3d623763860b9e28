// Makes a request fit the context before the engine takes it: how long its reply may become, and what is dropped of a
// chat that is too long. Any thread.
#pragma once

#include "base/result.h"
#include "engine/generation.h"
#include "llama/model/model.h"

#include <cstdint>

namespace engine {

/// Sets generate_max where it is below 1 or too much, and with `drops_turns` the request's turns; then a prompt that is
/// too long loses its oldest messages, and a reply without a limit of its own ends after four contexts.
/// `context_length_exceeded` where the prompt, or its last message, is too long by itself.
base::Result<void> fit_context(const llama_rt::Model& model, int32_t context_length, bool drops_turns,
                               GenerationRequest& request);

} // namespace engine
