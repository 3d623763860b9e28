// The limits of a model and its context: those of the scheduler (slots, cells, cached sequences, checkpoints), and the checks and
// cuts of a prompt before the engine accepts it. Any thread, except limits_of().
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "engine/generation.h"
#include "llama/context/context.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"
#include "sched/request.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The context's options: the given ones with the choice between one pool of cells and streams, with as much rollback as there is
/// memory for, and with the choice which layers draft: those for multi-token prediction, or those of a draft model that reads hidden
/// states; or the smallest possible for a model that does not generate text.
llama::ContextOptions options_for(const llama::Model& model, llama::ContextOptions options,
                                  const llama::Model* draft_model = nullptr);

/// `invalid_argument` if streams, or drafts of layers for multi-token prediction, were requested but are not possible.
base::Result<void> check_context(const llama::Model& model, const llama::ContextOptions& options);

/// `invalid_argument`, for the option `param`, if options_for() found no memory to take drafts back.
base::Result<void> check_rollback(const llama::Model& model, const llama::ContextOptions& options,
                                  const std::string& param);

/// Number of sequences that the context must be able to hold: running and cached ones.
int32_t slots_of(const llama::Model& model, const llama::ContextOptions& options);

/// With at most `host_tier_bytes` for the host KV tier, or none if the model cannot use it, and `checkpoint_bytes` for checkpoints. Computes a token to measure the size
/// of recurrent state. REQUIRES: an empty context, which is empty again afterwards.
sched::Limits limits_of(const llama::Model& model, llama::Context& context,
                        const llama::ContextOptions& options, uint64_t host_tier_bytes,
                        uint64_t checkpoint_bytes);

/// Lengths of a prompt at which a checkpoint is worth saving; none if the model needs no checkpoints.
std::vector<int32_t> boundaries_of(const llama::Model& model, const std::vector<base::Token>& prompt);

/// `invalid_argument` for a prompt with tokens outside the vocabulary, with images that are not complete or not among `images`,
/// or with an image that one step must compute and that has more than `batch_tokens` tokens.
base::Result<void> check_prompt(const llama::Model& model, int32_t batch_tokens,
                                std::span<const base::Token> prompt, const llama::ImageParts& images);

/// Every token of a prediction must be in the vocabulary.
base::Result<void> check_prediction(const llama::Model& model, std::span<const base::Token> prediction);

/// `invalid_argument` for a salt that sched::is_salt() refuses.
base::Result<void> check_salt(std::string_view salt);

/// Sets tokens_max if it is below 1 or too large. With `drops_turns`, also sets the request's turns: then a prompt that is too
/// long loses its oldest messages, and a reply without a limit of its own ends after four contexts.
/// `context_length_exceeded` if the prompt, or its last message, is too long alone.
base::Result<void> fit_context(const llama::Model& model, int32_t context_length, bool drops_turns,
                               GenerationRequest& request);

} // namespace engine
