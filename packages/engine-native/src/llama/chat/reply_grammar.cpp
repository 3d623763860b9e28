#include "llama/chat/reply_grammar.h"

#include "grammar/grammar.h"

#include <regex>
#include <string_view>
#include <utility>

#include "chat-peg-parser.h"

namespace llama {

namespace {

constexpr std::string_view kContentRule = "ingle-json";

/// The placeholder as a GBNF literal, either plain or as a JSON string.
std::string placeholder_literal(bool is_json) {
    return grammar::gbnf_literal(is_json ? std::string("\"").append(kPlaceholder).append("\"")
                                         : std::string(kPlaceholder));
}

/// The grammar with `rules` in place of the placeholder; absent if it has none.
std::optional<std::string> with_rules(std::string grammar, const std::string& literal,
                                      const std::string& rules) {
    if (grammar.find(literal) == std::string::npos) return std::nullopt;
    string_replace_all(grammar, literal, std::string(kContentRule));
    return grammar.append("\n").append(rules);
}

/// Limits a reply to one call: in some syntaxes, llama.cpp allows several even if they are not wanted.
void allow_one_call(std::string& grammar) {
    string_replace_all(grammar, "(tool-call space)+", "tool-call");
    string_replace_all(grammar, "(tool-call? space)+", "tool-call");
}

/// Empties the rule for free content in a reply that must call tools: llama.cpp allows any content before the call, so a model
/// might never make it. That rule is until-<index of the child among the parser's parts>.
void drop_content(std::string& grammar, const std::string& parser) {
    const common_json parts = common_json::parse(parser).at("parsers");
    for (const common_json& part : parts) {
        if (part.value("tag", "") != common_chat_peg_builder::CONTENT) continue;
        const std::string rule =
            std::string("\nuntil-").append(std::to_string(part.at("child").get<size_t>())).append(" ::= ");
        const size_t body = grammar.find(rule);
        if (body == std::string::npos) continue;
        const size_t begin = body + rule.size();
        grammar.replace(begin, grammar.find('\n', begin) - begin, R"("")");
    }
}

grammar::Triggers to_triggers(const common_chat_params& params) {
    grammar::Triggers triggers;
    for (const common_grammar_trigger& trigger : params.grammar_triggers) {
        switch (trigger.type) {
            case COMMON_GRAMMAR_TRIGGER_TYPE_WORD: triggers.words.push_back(trigger.value); break;
            case COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN: triggers.tokens.push_back(trigger.token); break;
            case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN:
            case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL: {
                const bool is_anchored = trigger.value.starts_with('^') && trigger.value.ends_with('$');
                const bool is_whole = is_anchored || trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL;
                triggers.patterns.push_back({.regex = std::regex(trigger.value), .is_whole = is_whole});
                break;
            }
        }
    }
    return triggers;
}

} // namespace

void ask_for_form(common_chat_templates_inputs& inputs) {
    inputs.tools.clear();
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_AUTO;
    inputs.json_schema = std::string(R"({"const": ")").append(kPlaceholder).append(R"("})");
}

std::optional<ReplyGrammar> form_grammar(const common_chat_params& params, const std::string& rules) {
    std::optional<std::string> text = with_rules(params.grammar, placeholder_literal(true), rules);
    if (!text) return std::nullopt;
    return ReplyGrammar{.text = std::move(*text), .begun = params.generation_prompt};
}

ReplyGrammar content_grammar(const std::string& rules) {
    return {.text = std::string("root ::= ").append(kContentRule).append("\n").append(rules)};
}

ReplyGrammar calls_grammar(const common_chat_params& params, bool is_parallel,
                           const std::string& tool_rules) {
    ReplyGrammar grammar{.text = params.grammar};
    if (!grammar.text.empty()) grammar.text.append("\n").append(tool_rules);
    if (!is_parallel) allow_one_call(grammar.text);
    if (params.grammar_lazy) {
        grammar.triggers = to_triggers(params);
        return grammar;
    }
    if (!grammar.text.empty()) drop_content(grammar.text, params.parser);
    grammar.begun = params.generation_prompt;
    return grammar;
}

base::Result<std::shared_ptr<const grammar::Rules>> rules_of(grammar::Grammars& grammars,
                                                             const ReplyGrammar& grammar) {
    base::Result<std::shared_ptr<const grammar::Rules>> rules = grammars.rules(grammar.text);
    if (!rules || grammar.begun.empty() || grammar::GrammarState(*rules).accept_text(grammar.begun))
        return rules;
    return base::fail(
        base::Code::template_failed,
        "The model's chat template starts replies in a way that its own syntax does not allow.");
}

base::Result<ReplySyntax> form_or_calls(const common_chat_templates& templates, grammar::Grammars& grammars,
                                        common_chat_templates_inputs inputs, const ReplyRules& reply) {
    ReplySyntax syntax{.params = common_chat_templates_apply(&templates, inputs)};
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    ReplyGrammar calls = calls_grammar(common_chat_templates_apply(&templates, inputs),
                                       inputs.parallel_tool_calls, reply.calls);
    ask_for_form(inputs);
    syntax.form = common_chat_templates_apply(&templates, inputs);
    const std::optional<ReplyGrammar> form = form_grammar(*syntax.form, reply.form);
    if (!form || calls.text.empty() || form->begun != calls.begun) {
        return base::fail(
            base::Code::template_failed,
            "The model's chat template does not support a response format together with tools. Leave one of "
            "them out.");
    }
    const base::Result<std::shared_ptr<const grammar::Rules>> of_form = rules_of(grammars, *form);
    if (!of_form) return std::unexpected(of_form.error());
    const base::Result<std::shared_ptr<const grammar::Rules>> of_calls = rules_of(grammars, calls);
    if (!of_calls) return std::unexpected(of_calls.error());
    syntax.rules = std::make_shared<const grammar::Rules>(grammar::either_of(**of_form, **of_calls));
    syntax.begun = std::move(calls.begun);
    return syntax;
}

bool holds_calls(const common_chat_params& params) {
    // If a rule that matches nothing replaces the placeholder, the whole grammar must match nothing.
    const std::string endless = std::string(kContentRule).append(R"( ::= "x" )").append(kContentRule);
    for (const bool is_json : {true, false}) {
        const std::optional<std::string> grammar =
            with_rules(params.grammar, placeholder_literal(is_json), endless);
        if (!grammar) continue;
        const base::Result<grammar::Rules> rules =
            grammar::read_gbnf(*grammar, [](std::string_view) { return -1; });
        if (rules && !grammar::has_texts(*rules)) return true;
    }
    return false;
}

} // namespace llama
