#include "engine/prompt_check.h"

#include "base/image_tokens.h"

#include <algorithm>
#include <string>

namespace engine {

using base::Code;
using base::Token;

namespace {

/// Whether a run of an image's tokens is this part, from its first to its last.
bool is_part(const llama_rt::ImagePart& part, std::span<const Token> run) {
    const auto belongs = [&](Token token) { return base::image_of(token) == part.id(); };
    return !base::continues_image(run.front()) && std::ssize(run) == part.tokens() &&
           std::ranges::all_of(run, belongs);
}

std::unexpected<base::Error> outside_vocabulary() {
    return base::fail(Code::invalid_argument, "The prompt has a token outside this model's vocabulary.");
}

std::unexpected<base::Error> larger_than_a_turn(const llama_rt::ImagePart& part, int32_t batch_tokens) {
    return base::fail(Code::invalid_argument, "A picture of this model has " + std::to_string(part.tokens()) +
                                                  " tokens, which are computed together, and a turn has " +
                                                  std::to_string(batch_tokens) +
                                                  ". Load the model with batchTokens of at least that.");
}

} // namespace

base::Result<void> check_prompt(const llama_rt::Model& model, int32_t batch_tokens,
                                std::span<const Token> prompt, const llama_rt::ImageParts& images) {
    if (prompt.empty()) return base::fail(Code::invalid_argument, "The prompt has no tokens.");
    const bool are_whole = model.vision() != nullptr && model.vision()->has_whole_images();
    const auto length = static_cast<int32_t>(prompt.size());
    for (int32_t at = 0; at < length;) {
        const Token token = prompt[static_cast<size_t>(at)];
        if (token >= model.info().vocabulary_size) return outside_vocabulary();
        if (!base::is_image(token)) {
            at += 1;
            continue;
        }
        const int32_t end = base::next_edge(prompt, at + 1);
        const auto run = prompt.subspan(static_cast<size_t>(at), static_cast<size_t>(end - at));
        const auto part = llama_rt::find_part(images, base::image_of(token));
        if (part == images.end() || !is_part(**part, run)) return outside_vocabulary();
        if (are_whole && (*part)->tokens() > batch_tokens) return larger_than_a_turn(**part, batch_tokens);
        at = end;
    }
    return {};
}

} // namespace engine
