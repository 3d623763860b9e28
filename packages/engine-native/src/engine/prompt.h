// What happens to a prompt before the engine accepts it: it is checked, and made to fit the context. Any thread.
#pragma once

#include "base/result.h"
#include "engine/generation.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"

#include <cstdint>
#include <span>

namespace engine {

/// `invalid_argument` for a prompt with tokens outside the vocabulary, with images that are not complete or not among `images`,
/// or with an image that one step must compute and that has more than `batch_tokens` tokens.
base::Result<void> check_prompt(const llama_rt::Model& model, int32_t batch_tokens,
                                std::span<const base::Token> prompt, const llama_rt::ImageParts& images);

/// Sets generate_max if it is below 1 or too large. With `drops_turns`, also sets the request's turns: then a prompt that is too
/// long loses its oldest messages, and a reply without a limit of its own ends after four contexts.
/// `context_length_exceeded` if the prompt, or its last message, is too long alone.
base::Result<void> fit_context(const llama_rt::Model& model, int32_t context_length, bool drops_turns,
                               GenerationRequest& request);

} // namespace engine
