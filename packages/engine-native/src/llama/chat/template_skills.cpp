#include "llama/chat/template_skills.h"

#include "llama/chat/reply_grammar.h"

#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace llama_rt {

namespace {

common_chat_templates_inputs probe() {
    common_chat_templates_inputs inputs;
    common_chat_msg question;
    question.role = "user";
    question.content = "Which one?";
    inputs.messages.push_back(std::move(question));
    inputs.add_generation_prompt = true;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.parallel_tool_calls = false;
    inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    const std::string parameters =
        std::string(R"({"type":"object","properties":{"one":{"type":"string","enum":[")")
            .append(kPlaceholder)
            .append(R"("]}},"required":["one"]})");
    inputs.tools.push_back({.name = "choose", .description = "Chooses one", .parameters = parameters});
    return inputs;
}

/// Throws what the template throws.
bool holds_form_or_calls(const common_chat_templates& templates) {
    common_chat_templates_inputs inputs = probe();
    const common_chat_params calls = common_chat_templates_apply(&templates, inputs);
    if (!holds_calls(calls)) return false;
    ask_for_form(inputs);
    const common_chat_params form = common_chat_templates_apply(&templates, inputs);
    return form.generation_prompt == calls.generation_prompt && form_grammar(form, "").has_value();
}

} // namespace

TemplateSkills skills_of(const common_chat_templates& templates) {
    const std::map<std::string, bool> caps = common_chat_templates_get_caps(&templates);
    const std::string source = common_chat_templates_source(&templates);
    const auto says = [&](std::string_view text) { return source.find(text) != std::string::npos; };
    const auto can = [&](const char* name) { return caps.contains(name) && caps.at(name); };
    TemplateSkills skills{.writes_tools = can("supports_tools"),
                          .writes_tool_calls = can("supports_tool_calls"),
                          .is_lfm2 = says("<|tool_list_start|>") || says("List of tools: [")};
    try {
        skills.holds_form_or_calls = skills.writes_tools && holds_form_or_calls(templates);
    } catch (const std::exception&) {
        // The template rejects such a conversation, so it does not have this skill.
    }
    return skills;
}

} // namespace llama_rt
