// The grammar that a reply is held to, made of what llama.cpp writes for a template's syntax: with a form's rules in the
// place of its content, for calls, or for either. Used by conversation.cpp and template_skills.cpp.
#pragma once

#include "base/result.h"
#include "llama/grammar/constraint.h"
#include "llama/grammar/gbnf.h"
#include "llama/grammar/grammars.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chat.h"

namespace llama_rt {

/// Stands for the content in what llama.cpp writes: a string that nobody else writes.
inline constexpr std::string_view kPlaceholder = "@ingle-content@";

/// A grammar as text, and where it begins; the rules are yet to be read. No text: none.
struct ReplyGrammar {
    std::string text = {};
    /// What the prompt has begun of the reply.
    std::string begun = {};
    std::optional<Triggers> triggers = std::nullopt;
};

/// Makes inputs ask for a reply without calls whose content is the placeholder.
void ask_for_form(common_chat_templates_inputs& inputs);

/// The syntax that inputs with ask_for_form() gave, with the content's own rules, the first of which is "ingle-json".
/// Nothing when it has no place for them.
std::optional<ReplyGrammar> form_grammar(const common_chat_params& params, const std::string& rules);

/// Nothing but content of these rules.
ReplyGrammar content_grammar(const std::string& rules);

/// The syntax of calls. Where they may be made, it begins with them; where they must be, it is the whole reply, without any
/// content.
ReplyGrammar calls_grammar(const common_chat_params& params, bool is_parallel);

/// The rules of a grammar. `template_failed` when it does not begin as the prompt's end does.
base::Result<std::shared_ptr<const Rules>> rules_of(Grammars& grammars, const ReplyGrammar& grammar);

/// What a template makes of a conversation, and the rules of the reply.
struct ReplySyntax {
    common_chat_params params;
    /// Of a reply that is no call; absent where `params` are all there is.
    std::optional<common_chat_params> form = std::nullopt;
    /// Null: any text.
    std::shared_ptr<const Rules> rules = nullptr;
    /// What the prompt has begun of the reply.
    std::string begun = {};
    std::optional<Triggers> triggers = std::nullopt;
    bool reads_reply = true;
};

/// A reply that is calls of the inputs' tools, or content of these rules; llama.cpp writes grammars for either alone.
/// `template_failed` where the template's syntax has no place for the rules, or no rules for calls.
base::Result<ReplySyntax> form_or_calls(const common_chat_templates& templates, Grammars& grammars,
                                        common_chat_templates_inputs inputs,
                                        const std::string& content_rules);

/// Whether calls that must be made always have what their tool requires; `params` are those of a tool that requires the
/// placeholder.
bool holds_calls(const common_chat_params& params);

} // namespace llama_rt
