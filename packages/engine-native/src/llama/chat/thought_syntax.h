// How a chat template marks the thought of a model before its reply.
#pragma once

#include "base/fields.h"

#include <string>
#include <vector>

struct common_chat_params;

namespace llama {

struct ThoughtSyntax {
    /// The text before a thought, and those that end it, the usual one first. Empty: the model thinks nothing, or llama.cpp does not tell
    /// how its thoughts end.
    std::string begin = {};
    std::vector<std::string> ends = {};
    /// Whether the prompt ends inside a thought.
    bool is_open = false;
    /// Whether replies may have a thought.
    bool may_think = false;
};

constexpr auto fields_of(const ThoughtSyntax*) {
    return base::rows(base::field("begin", &ThoughtSyntax::begin), base::field("ends", &ThoughtSyntax::ends),
                      base::field("isOpen", &ThoughtSyntax::is_open),
                      base::field("mayThink", &ThoughtSyntax::may_think));
}

/// The syntax of a reply with these `params`.
ThoughtSyntax thought_syntax(const common_chat_params& params);

} // namespace llama
