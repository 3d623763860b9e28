#include "engine/prompt.h"

#include "base/image_tokens.h"
#include "sched/context_shift.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace engine {

using base::Code;
using base::Token;

namespace {

/// A reply without a limit of its own that may go on past the context's end is limited to so many contexts.
constexpr int32_t kContextsGeneratedMax = 4;

/// Whether a run of an image's tokens is this part, from its first to its last token.
bool is_part(const llama_rt::ImagePart& part, std::span<const Token> run) {
    const auto belongs = [&](Token token) { return base::image_of(token) == part.id(); };
    return !base::continues_image(run.front()) && std::ssize(run) == part.tokens() &&
           std::ranges::all_of(run, belongs);
}

std::unexpected<base::Error> outside_vocabulary() {
    return base::fail(Code::invalid_argument, "The prompt has a token outside this model's vocabulary.");
}

std::unexpected<base::Error> larger_than_a_batch(const llama_rt::ImagePart& part, int32_t batch_tokens) {
    return base::fail(Code::invalid_argument,
                      "An image of this model has " + std::to_string(part.tokens()) +
                          " tokens, which are computed in one step, and a step holds " +
                          std::to_string(batch_tokens) + ". Load the model with batchTokens of at least " +
                          std::to_string(part.tokens()) + ".");
}

base::Error too_long(int64_t prompt_tokens, int64_t context_length) {
    return {.code = Code::context_length_exceeded,
            .message = "The prompt has " + std::to_string(prompt_tokens) + " tokens, and the context holds " +
                       std::to_string(context_length) +
                       " with at least one left for the reply. Shorten the prompt or load the model with a "
                       "longer context.",
            .lengths =
                base::Error::Lengths{.prompt_tokens = prompt_tokens, .context_length = context_length}};
}

/// A chat's messages end after the tokens that end a generation. When the chat becomes too long, the first message is kept; if it
/// takes half of the context or is not there, the token that begins the prompt is kept.
sched::ChatTurns turns_of(const llama_rt::Model& model, const std::vector<Token>& prompt,
                          int32_t context_length) {
    sched::ChatTurns turns;
    for (size_t i = 0; i < prompt.size(); ++i) {
        if (model.is_end_of_generation(prompt[i])) turns.ends.push_back(static_cast<int32_t>(i) + 1);
    }
    const auto may_keep = [&](int32_t length) { return 2 * length < context_length; };
    if (!turns.ends.empty() && may_keep(turns.ends.front())) {
        turns.keep = turns.ends.front();
        turns.ends.erase(turns.ends.begin());
    } else if (prompt.front() == model.info().bos && may_keep(1)) {
        turns.keep = 1;
    }
    return turns;
}

/// Cuts out of a prompt what does not fit; false if that is not enough.
bool drop_oldest(GenerationRequest& request, int32_t context_length) {
    const auto length = static_cast<int32_t>(request.prompt.size());
    const std::optional<sched::Cut> cut =
        request.turns->cut_prompt(length, context_length, request.generate_max);
    if (!cut) return false;
    const auto first = request.prompt.begin() + cut->keep;
    request.prompt.erase(first, first + cut->drop);
    sched::apply_cut(request.turns->ends, *cut);
    request.dropped = cut->drop;
    return true;
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
        if (are_whole && (*part)->tokens() > batch_tokens) return larger_than_a_batch(**part, batch_tokens);
        at = end;
    }
    return {};
}

base::Result<void> fit_context(const llama_rt::Model& model, int32_t context_length, bool drops_turns,
                               GenerationRequest& request) {
    const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
    if (drops_turns) {
        request.turns = turns_of(model, request.prompt, context_length);
        if (!drop_oldest(request, context_length))
            return std::unexpected(too_long(prompt_tokens, context_length));
        if (request.generate_max < 1) request.generate_max = kContextsGeneratedMax * context_length;
        return {};
    }
    if (prompt_tokens >= context_length) return std::unexpected(too_long(prompt_tokens, context_length));
    const int32_t room = context_length - static_cast<int32_t>(prompt_tokens);
    request.generate_max = request.generate_max < 1 ? room : std::min(request.generate_max, room);
    return {};
}

} // namespace engine
