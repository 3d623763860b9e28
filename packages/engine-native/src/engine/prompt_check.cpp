#include "engine/prompt_check.h"

#include "base/image_tokens.h"

#include <algorithm>
#include <string>

namespace engine {

using base::Code;
using base::Token;

base::Result<void> check_prompt(const llama_rt::Model& model, int32_t batch_tokens,
                                std::span<const Token> prompt, const llama_rt::ImageParts& images) {
    if (prompt.empty()) return base::fail(Code::invalid_argument, "The prompt has no tokens.");
    const bool are_whole = model.vision() != nullptr && model.vision()->has_whole_images();
    const auto length = static_cast<int32_t>(prompt.size());
    for (int32_t at = 0; at < length;) {
        const Token token = prompt[static_cast<size_t>(at)];
        if (token >= model.info().vocabulary_size)
            return base::fail(Code::invalid_argument,
                              "The prompt has a token outside this model's vocabulary.");
        if (!base::is_image(token)) {
            at += 1;
            continue;
        }
        const auto is_it = [&](const auto& part) { return part->id() == base::image_of(token); };
        const auto part = std::ranges::find_if(images, is_it);
        const int32_t end = base::next_edge(prompt, at + 1);
        if (base::continues_image(token) || part == images.end() || end - at != (*part)->tokens())
            return base::fail(Code::invalid_argument,
                              "The prompt has a token outside this model's vocabulary.");
        for (; at < end; ++at) {
            if (base::image_of(prompt[static_cast<size_t>(at)]) != (*part)->id())
                return base::fail(Code::invalid_argument,
                                  "The prompt has a token outside this model's vocabulary.");
        }
        if (are_whole && (*part)->tokens() > batch_tokens) {
            return base::fail(Code::invalid_argument,
                              "A picture of this model has " + std::to_string((*part)->tokens()) +
                                  " tokens, which are computed together, and a turn has " +
                                  std::to_string(batch_tokens) +
                                  ". Load the model with batchTokens of at least that.");
        }
    }
    return {};
}

} // namespace engine
