#include "llama/chat/tool_arguments.h"

#include "grammar/gbnf.h"
#include "llama/chat/conversation.h"
#include "tool-rules.h"

#include <optional>
#include <string>
#include <string_view>

#include "chat.h"

namespace llama {

namespace {

constexpr const char* kTool = "choose";
constexpr const char* kRule = "ingle-arguments";

/// A call of a tool that takes a string, and a value that may be a string.
common_chat_templates_inputs argument_probe() {
    common_chat_templates_inputs inputs;
    common_chat_msg question;
    question.role = "user";
    question.content = "Which one?";
    inputs.messages.push_back(question);
    inputs.add_generation_prompt = true;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.parallel_tool_calls = false;
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    inputs.tools.push_back({.name = kTool,
                            .description = "Chooses one",
                            .parameters = R"({"type":"object","properties":{"one":{"type":"string"},)"
                                          R"("two":{"type":"string"}},"required":["one","two"]})"});
    return inputs;
}

common_json schema_of_probe() {
    return common_json::parse(R"({"type":"object","properties":{"one":{"type":"string"},)"
                              R"("two":{"type":["string","integer"]}},"required":["one","two"]})");
}

/// If a rule that matches nothing stands for the arguments, the whole grammar must match nothing.
bool holds(const std::string& grammar) {
    if (grammar.empty()) return false;
    const std::string endless =
        std::string("\n").append(kRule).append(R"( ::= "x" )").append(kRule).append("\n");
    const base::Result<grammar::Rules> rules =
        grammar::read_gbnf(grammar + endless, [](std::string_view) { return -1; });
    return rules && !grammar::has_texts(*rules);
}

/// While it exists, llama.cpp uses these rules on this thread.
class Scope {
public:
    explicit Scope(tool_rules::rule_set& rules) { tool_rules::current() = &rules; }
    ~Scope() { tool_rules::current() = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
};

std::string grammar_with(const common_chat_templates& templates, tool_rules::rule_set& rules) {
    rules.parameters.emplace(kTool, schema_of_probe());
    const Scope scope(rules);
    return common_chat_templates_apply(&templates, argument_probe()).grammar;
}

/// What a parser tells of an argument that is written as it is, if a rule can stand for it and it has one end.
std::optional<ArgumentSkills> text_skills(const common_chat_templates& templates,
                                          const std::string& argument) {
    tool_rules::rule_set rules;
    rules.rules.emplace("tool-choose-arg-" + argument + "-text", kRule);
    if (!holds(grammar_with(templates, rules)) || rules.ends.size() != 1 || rules.ends.begin()->empty())
        return std::nullopt;
    return ArgumentSkills{
        .syntax = ArgumentSyntax::text, .end = *rules.ends.begin(), .reads_json = rules.reads_json};
}

} // namespace

ArgumentSkills argument_skills_of(const common_chat_templates& templates) {
    tool_rules::rule_set whole;
    whole.rules.emplace("tool-choose-schema", kRule);
    if (holds(grammar_with(templates, whole))) return {.syntax = ArgumentSyntax::json};
    if (!text_skills(templates, "one")) return {};
    // Only the second one may be something else than a string, which JSON could be.
    return text_skills(templates, "two").value_or(ArgumentSkills{});
}

ArgumentRules::ArgumentRules(const Chat& chat) : rules_(std::make_unique<tool_rules::rule_set>()) {
    for (const Tool& tool : chat.tools) {
        if (!tool.arguments_schema.empty())
            rules_->parameters.emplace(tool.name, common_json::parse(tool.arguments_schema));
    }
    for (const auto& [stands_for, rule] : chat.argument_rules) rules_->rules.emplace(stands_for, rule);
    tool_rules::current() = rules_.get();
}

ArgumentRules::~ArgumentRules() {
    tool_rules::current() = nullptr;
}

} // namespace llama
