#include "engine/fit_context.h"

#include "sched/turns.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace engine {

namespace {

/// A reply that may go on past the context's end and has no limit of its own ends some day: after so many contexts.
constexpr int32_t kContextsGeneratedMax = 4;

base::Error too_long(int64_t prompt_tokens, int64_t context_length) {
    return {.code = base::Code::context_length_exceeded,
            .message = "The prompt has " + std::to_string(prompt_tokens) + " tokens, and the context holds " +
                       std::to_string(context_length) +
                       " with at least one left for the reply. Shorten the prompt or load the model with a "
                       "longer context.",
            .lengths =
                base::Error::Lengths{.prompt_tokens = prompt_tokens, .context_length = context_length}};
}

/// Where a chat's messages end: after the tokens that end a generation. The first one is kept when the chat becomes too
/// long, or where that takes half of the context or cannot be told, the token that begins the prompt.
sched::Turns turns_of(const llama_rt::Model& model, const std::vector<base::Token>& prompt,
                      int32_t context_length) {
    sched::Turns turns;
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

/// Cuts out of a prompt what does not fit; false when that is not enough.
bool drop_oldest(GenerationRequest& request, int32_t context_length) {
    const auto length = static_cast<int32_t>(request.prompt.size());
    const std::optional<sched::Cut> cut =
        request.turns->cut_prompt(length, context_length, request.generate_max);
    if (!cut) return false;
    const auto first = request.prompt.begin() + cut->keep;
    request.prompt.erase(first, first + cut->drop);
    sched::shorten(request.turns->ends, *cut);
    request.dropped = cut->drop;
    return true;
}

} // namespace

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
