// What a prompt must be so that it can be computed: tokens of the model, and images as a whole.
#pragma once

#include "base/result.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"

#include <span>

namespace engine {

/// `invalid_argument` for a prompt that is not made of the vocabulary and of these images, or that has one which does not
/// fit a turn of `batch_tokens` and must.
base::Result<void> check_prompt(const llama_rt::Model& model, int32_t batch_tokens,
                                std::span<const base::Token> prompt, const llama_rt::ImageParts& images);

} // namespace engine
