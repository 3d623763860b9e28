// The grammar that a reply must match, derived from the grammar that llama.cpp generates for a template's syntax: for content in
// a given form, for tool calls, or for either.
#pragma once

#include "base/result.h"
#include "grammar/constraint.h"
#include "grammar/gbnf.h"
#include "grammar/grammars.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chat.h"

namespace llama {

/// Stands for the content in the grammars that llama.cpp generates.
inline constexpr std::string_view kPlaceholder = "@ingle-content@";

/// A grammar as GBNF text, not yet parsed, and where it starts. An empty text means no grammar.
struct ReplyGrammar {
    std::string text = {};
    /// The start of the reply that is already in the prompt.
    std::string begun = {};
    std::optional<grammar::Triggers> triggers = std::nullopt;
};

/// Changes the inputs so that llama.cpp generates the grammar of a reply without calls whose content is the placeholder.
void ask_for_form(common_chat_templates_inputs& inputs);

/// The grammar that inputs with ask_for_form() gave, with `rules` for the content, the first of them "ingle-json". Absent if the
/// syntax has no place for them.
std::optional<ReplyGrammar> form_grammar(const common_chat_params& params, const std::string& rules);

/// A reply that is only content that matches these rules.
ReplyGrammar content_grammar(const std::string& rules);

/// The grammar of tool calls. If calls are optional, it starts at the first call; if they are required, it is the whole reply,
/// without content. `tool_rules` are those that it names for arguments (tool_arguments.h).
ReplyGrammar calls_grammar(const common_chat_params& params, bool is_parallel, const std::string& tool_rules);

/// Reads a grammar's rules. `template_failed` if they do not match the start of the reply that the prompt has.
base::Result<std::shared_ptr<const grammar::Rules>> rules_of(grammar::Grammars& grammars,
                                                             const ReplyGrammar& grammar);

/// A conversation rendered by a template, and the rules of the reply.
struct ReplySyntax {
    common_chat_params params;
    /// The syntax of a reply without calls; absent if `params` covers all replies.
    std::optional<common_chat_params> form = std::nullopt;
    /// Null: any text.
    std::shared_ptr<const grammar::Rules> rules = nullptr;
    /// The start of the reply that is already in the prompt.
    std::string begun = {};
    std::optional<grammar::Triggers> triggers = std::nullopt;
    /// Whether the reply needs a parser, to separate reasoning and calls from content.
    bool reads_reply = true;
};

/// Rules of ours in a grammar of llama.cpp's.
struct ReplyRules {
    /// For content, the first of them "ingle-json".
    std::string form;
    /// For the arguments of calls.
    std::string calls = {};
};

/// The syntax of a reply that consists of calls to the inputs' tools, or of content that matches these rules; llama.cpp generates
/// grammars only for one or the other. `template_failed` if the template's syntax has no place for the rules, or no grammar for
/// calls.
base::Result<ReplySyntax> form_or_calls(const common_chat_templates& templates, grammar::Grammars& grammars,
                                        common_chat_templates_inputs inputs, const ReplyRules& reply);

/// Whether the syntax constrains required calls to their tool's schema. `params` must be those of a tool whose schema requires
/// the placeholder.
bool holds_calls(const common_chat_params& params);

} // namespace llama
