#include "llama/chat/chat_template.h"

#include "llama/chat/conversation.h"
#include "llama/chat/reply_grammar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat.h"

namespace llama {

namespace {

common_chat_msg message_of(const char* role, const char* content) {
    common_chat_msg message;
    message.role = role;
    message.content = content;
    return message;
}

/// Throws what the template throws.
bool writes_later_system(const common_chat_templates& templates) {
    constexpr const char* kFirst = "first9instructions";
    constexpr const char* kLater = "later9instructions";
    common_chat_templates_inputs inputs;
    inputs.add_generation_prompt = true;
    const auto keeps = [&](std::vector<common_chat_msg> messages) {
        inputs.messages = std::move(messages);
        const std::string prompt = common_chat_templates_apply(&templates, inputs).prompt;
        return prompt.contains(kFirst) && prompt.contains(kLater);
    };
    const common_chat_msg first = message_of("system", kFirst);
    const common_chat_msg later = message_of("system", kLater);
    const common_chat_msg question = message_of("user", "Which one?");
    const common_chat_msg reply = message_of("assistant", "This one.");
    return keeps({first, question, later}) && keeps({first, question, reply, later, question});
}

bool refuses(const common_chat_templates& templates, std::vector<common_chat_msg> messages) {
    common_chat_templates_inputs inputs;
    inputs.add_generation_prompt = true;
    inputs.messages = std::move(messages);
    try {
        common_chat_templates_apply(&templates, inputs);
    } catch (const std::exception&) {
        return true;
    }
    return false;
}

/// Which turns the template does not let follow each other. What it refuses for another reason is no refusal of the order.
void find_refused_turns(const common_chat_templates& templates, TemplateSkills& skills) {
    const common_chat_msg question = message_of("user", "Which one?");
    const common_chat_msg reply = message_of("assistant", "This one.");
    if (!refuses(templates, {question})) {
        skills.refuses_user_after_user = refuses(templates, {question, question});
        skills.refuses_assistant_after_assistant = refuses(templates, {question, reply, reply, question}) &&
                                                   !refuses(templates, {question, reply, question});
    }
    common_chat_msg call = message_of("assistant", "");
    call.tool_calls.push_back(
        {.name = "choose", .arguments = "{}", .id = "choose123"}); // nine, for Mistral's templates
    common_chat_msg result = message_of("tool", "That one.");
    result.tool_name = "choose";
    result.tool_call_id = "choose123";
    skills.refuses_user_after_result = refuses(templates, {question, call, result, question}) &&
                                       !refuses(templates, {question, call, result});
}

/// Throws what the template throws.
void write_null_types(const common_chat_templates& templates) {
    common_chat_templates_inputs inputs;
    inputs.messages.push_back(message_of("user", "Which one?"));
    inputs.tools.push_back(
        {.name = "choose",
         .description = "Chooses one",
         .parameters = R"({"type":"object","properties":{"one":{"type":["string","null"]}}})"});
    common_chat_templates_apply(&templates, inputs);
}

common_chat_templates_inputs probe() {
    common_chat_templates_inputs inputs;
    inputs.messages.push_back(message_of("user", "Which one?"));
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

// Work is counted in units; a current processor does about two per nanosecond. We measured what the templates that come with
// llama.cpp take (in brackets), and allow ten times the highest value or more.

/// Finding a template's syntax, by rendering dozens of small conversations (27 million).
constexpr uint64_t kWork = 500'000'000;
/// Some templates go through all messages again for each message (12,500 per pair).
constexpr uint64_t kWorkPerPair = 150'000;
/// Templates go through texts repeatedly (170 per byte).
constexpr uint64_t kWorkPerByte = 2'000;
/// Tools are written key by key (2.6 million for a small tool, 2,200 per byte of a long one).
constexpr uint64_t kWorkPerTool = 25'000'000;
constexpr uint64_t kWorkPerToolByte = 25'000;
/// With more messages than this, the time limit applies long before the work limit.
constexpr size_t kPairedMessagesMax = 10'000;

/// Processor time: the base, units of further work per millisecond, and the maximum. A template whose work grows with the square
/// of the conversation's length gets to about 1,500 messages.
constexpr int kTimeMs = 2'000;
constexpr uint64_t kWorkPerMs = 10'000'000;
constexpr uint64_t kTimeMsMax = 20'000;

/// Memory for the values of one run. A conversation takes three times its length plus 12 kB per message.
constexpr size_t kMemoryBytes = size_t{256} * 1024 * 1024;

size_t bytes_of(const ChatMessage& message) {
    size_t bytes = message.content.size() + message.reasoning.size() + message.name.size();
    for (const ContentPart& part : message.parts) bytes += part.text.size();
    for (const auto& [id, name, arguments] : message.tool_calls)
        bytes += id.size() + name.size() + arguments.size();
    return bytes;
}

uint64_t work_of(const Chat& chat) {
    const uint64_t messages = std::min(chat.messages.size(), kPairedMessagesMax);
    uint64_t work = kWork + messages * messages * kWorkPerPair + chat.tools.size() * kWorkPerTool;
    for (const ChatMessage& message : chat.messages) work += bytes_of(message) * kWorkPerByte;
    for (const auto& [name, value] : chat.template_arguments)
        work += (name.size() + value.size()) * kWorkPerByte;
    for (const Tool& tool : chat.tools)
        work += (tool.name.size() + tool.description.size() + tool.parameters.size()) * kWorkPerToolByte;
    // With tools and content rules, the conversation is rendered three times: see syntax_of() in conversation.cpp.
    return !chat.tools.empty() && !chat.content_rules.empty() ? 3 * work : work;
}

} // namespace

TemplateSkills skills_of(const common_chat_templates& templates) {
    const std::map<std::string, bool> caps = common_chat_templates_get_caps(&templates);
    const std::string source = common_chat_templates_source(&templates);
    const auto says = [&](std::string_view text) { return source.find(text) != std::string::npos; };
    const auto can = [&](const char* name) { return caps.contains(name) && caps.at(name); };
    TemplateSkills skills{.source = source,
                          .writes_tools = can("supports_tools"),
                          .writes_tool_calls = can("supports_tool_calls"),
                          .is_lfm2 = says("<|tool_list_start|>") || says("List of tools: [")};
    try {
        skills.writes_later_system = writes_later_system(templates);
    } catch (const std::exception&) {
        // The template rejects such a conversation, so it does not have this skill.
    }
    find_refused_turns(templates, skills);
    try {
        if (skills.writes_tools) write_null_types(templates);
        skills.writes_null_types = true;
    } catch (const std::exception&) {
        // The same.
    }
    try {
        if (skills.writes_tools) skills.arguments = argument_skills_of(templates);
    } catch (const std::exception&) {
        // The same.
    }
    try {
        skills.holds_form_or_calls = skills.writes_tools && holds_form_or_calls(templates);
    } catch (const std::exception&) {
        // The same.
    }
    return skills;
}

jinja::work_allowance template_allowance(const Chat& chat, const std::atomic<bool>& is_aborted) {
    const uint64_t work = work_of(chat);
    return {.milliseconds = static_cast<int>(std::min(kTimeMs + work / kWorkPerMs, kTimeMsMax)),
            .units = work,
            .bytes = kMemoryBytes,
            .is_cancelled = &is_aborted};
}

} // namespace llama
