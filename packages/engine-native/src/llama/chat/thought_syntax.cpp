#include "llama/chat/thought_syntax.h"

#include <algorithm>

#include "chat.h"

namespace llama {

ThoughtSyntax thought_syntax(const common_chat_params& params) {
    ThoughtSyntax syntax{.may_think = params.supports_thinking};
    if (params.thinking_start_tag.empty() || params.thinking_end_tags.empty()) return syntax;
    syntax.begin = params.thinking_start_tag;
    syntax.ends = params.thinking_end_tags;
    const std::string& prompt = params.generation_prompt;
    const size_t begin = prompt.rfind(syntax.begin);
    syntax.is_open =
        begin != std::string::npos && std::ranges::all_of(syntax.ends, [&](const std::string& end) {
            return prompt.find(end, begin + syntax.begin.size()) == std::string::npos;
        });
    return syntax;
}

} // namespace llama
