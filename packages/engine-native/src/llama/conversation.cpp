#include "llama/conversation.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <random>
#include <string_view>

#include "chat.h"

namespace llama_rt {

using base::Code;

namespace {

/// Stands for the content in the grammars that llama.cpp writes around it: a JSON string that nobody else writes.
constexpr std::string_view kPlaceholder = "@ingle-content@";
constexpr std::string_view kContentRule = "ingle-json";

/// What a model's template may take for one conversation: it comes out of a file that a stranger made. Templates are
/// written out some dozen times to find their syntax; together that takes milliseconds.
constexpr int kTemplateMs = 2'000;
constexpr size_t kTemplateBytes = size_t{1} << 30;

common_chat_tool_choice to_tool_choice(ToolChoice choice) {
    switch (choice) {
        case ToolChoice::automatic: return COMMON_CHAT_TOOL_CHOICE_AUTO;
        case ToolChoice::none: return COMMON_CHAT_TOOL_CHOICE_NONE;
        case ToolChoice::required: return COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    }
    return COMMON_CHAT_TOOL_CHOICE_AUTO;
}

/// Letters and digits alone: no template escapes or trims them.
std::string make_marker() {
    std::random_device random;
    std::string marker = "picture";
    for (int i = 0; i < 4; ++i) marker += std::to_string(random());
    return marker;
}

common_chat_msg to_message(const ChatMessage& message, const std::string& marker) {
    common_chat_msg out;
    out.role = message.role;
    if (message.parts.empty()) out.content = message.content;
    for (const ContentPart& part : message.parts) {
        if (part.picture) out.content_parts.push_back({.type = "media_marker", .text = marker});
        else out.content_parts.push_back({.type = "text", .text = part.text});
    }
    out.reasoning_content = message.reasoning;
    out.tool_call_id = message.tool_call_id;
    out.tool_name = message.name;
    for (const auto& [id, name, arguments] : message.tool_calls) {
        out.tool_calls.push_back({.name = name, .arguments = arguments, .id = id});
    }
    return out;
}

common_chat_templates_inputs to_inputs(const Chat& chat, const std::string& marker) {
    common_chat_templates_inputs inputs;
    inputs.add_generation_prompt = chat.add_generation_prompt;
    if (chat.continues_last) inputs.continue_final_message = COMMON_CHAT_CONTINUATION_AUTO;
    inputs.tool_choice = to_tool_choice(chat.tool_choice);
    inputs.parallel_tool_calls = chat.parallel_tool_calls;
    inputs.enable_thinking = chat.enable_thinking;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    for (const ChatMessage& message : chat.messages) inputs.messages.push_back(to_message(message, marker));
    for (const auto& [name, description, parameters] : chat.tools)
        inputs.tools.push_back({.name = name, .description = description, .parameters = parameters});
    for (const auto& [name, value] : chat.template_arguments) inputs.chat_template_kwargs[name] = value;
    if (!chat.content_rules.empty())
        inputs.json_schema = std::string(R"({"const": ")").append(kPlaceholder).append(R"("})");
    return inputs;
}

/// Whether replies in this format may hold reasoning that is told apart from the content.
bool may_reason(const Model& model, const common_chat_params& params) {
    if (!params.supports_thinking) return false;
    const std::string source = common_chat_templates_source(model.templates());
    return params.thinking_start_tag.empty() || source.find(params.thinking_start_tag) != std::string::npos;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// llama.cpp's grammar with the content's own rules in it; nothing when it has no place for them.
std::optional<std::string> with_content_rules(std::string grammar, const std::string& rules) {
    const std::string literal = std::string(R"("\")").append(kPlaceholder).append(R"(\"")");
    if (grammar.find(literal) == std::string::npos) return std::nullopt;
    replace_all(grammar, literal, kContentRule);
    return grammar.append("\n").append(rules);
}

std::string content_grammar(const std::string& rules) {
    return std::string("root ::= ").append(kContentRule).append("\n").append(rules);
}

Triggers to_triggers(const common_chat_params& params) {
    Triggers triggers;
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

/// Control tokens that belong to the syntax, so that a reply shows them.
std::vector<SpelledToken> spelled_tokens(const Model& model, const common_chat_params& params) {
    std::vector<SpelledToken> spelled;
    for (const std::string& text : params.preserved_tokens) {
        const base::Token token = model.token_of(text);
        if (token >= 0 && !model.is_end_of_generation(token))
            spelled.push_back({.token = token, .text = text});
    }
    return spelled;
}

/// The grammar as text, and where it begins; the rules are yet to be read.
struct Wanted {
    std::string grammar = {};
    std::string begun = {};
    std::optional<Triggers> triggers = std::nullopt;
};

Wanted own_grammar(const Chat& chat) {
    if (!chat.content_rules.empty()) return {.grammar = content_grammar(chat.content_rules)};
    Wanted wanted{.grammar = chat.grammar};
    if (!chat.grammar_trigger.empty()) wanted.triggers = Triggers{.words = {chat.grammar_trigger}};
    return wanted;
}

/// Whether the prompt ends inside the model's thoughts.
bool begins_thinking(const common_chat_params& params) {
    if (params.thinking_start_tag.empty()) return false;
    const size_t start = params.generation_prompt.rfind(params.thinking_start_tag);
    if (start == std::string::npos) return false;
    return std::ranges::none_of(params.thinking_end_tags, [&](const std::string& end) {
        return params.generation_prompt.find(end, start) != std::string::npos;
    });
}

/// llama.cpp lets a reply that must call tools say anything before; a model might never come to the call. The free texts
/// are those that its grammar's root calls by the name until-<number>.
std::string without_free_text(std::string grammar) {
    constexpr std::string_view kRoot = "\nroot ::= ";
    constexpr std::string_view kFree = "until-";
    const size_t root = grammar.find(kRoot);
    if (root == std::string::npos) return grammar;
    const size_t line = root + 1;
    for (size_t at = grammar.find(kFree, line); at < grammar.find('\n', line); at = grammar.find(kFree, at)) {
        const size_t end = grammar.find_first_not_of("0123456789", at + kFree.size());
        grammar.replace(at, end - at, R"("")");
    }
    return grammar;
}

/// In some syntaxes llama.cpp lets calls follow each other, whether several are wanted or not.
void allow_one_call(std::string& grammar) {
    replace_all(grammar, "(tool-call space)+", "tool-call");
    replace_all(grammar, "(tool-call? space)+", "tool-call");
}

/// The one that llama.cpp made for the template's syntax, where replies are read by that.
Wanted wanted_of(const Chat& chat, const common_chat_params& params, bool reads_reply) {
    if (!reads_reply || !chat.grammar.empty()) return own_grammar(chat);
    if (chat.content_rules.empty()) {
        std::string grammar = params.grammar;
        if (!chat.parallel_tool_calls) allow_one_call(grammar);
        if (params.grammar_lazy) return {.grammar = std::move(grammar), .triggers = to_triggers(params)};
        const bool calls_at_once = chat.tool_choice == ToolChoice::required && !begins_thinking(params);
        return {.grammar = calls_at_once ? without_free_text(std::move(grammar)) : std::move(grammar),
                .begun = params.generation_prompt};
    }
    std::optional<std::string> whole = with_content_rules(params.grammar, chat.content_rules);
    if (!whole) return own_grammar(chat);
    return {.grammar = std::move(*whole), .begun = params.generation_prompt};
}

base::Result<std::shared_ptr<const Constraint>> constrain(const Model& model, Wanted wanted,
                                                          std::vector<SpelledToken> spelled) {
    if (wanted.grammar.empty() && spelled.empty()) return nullptr;
    Constraint constraint{.pieces = model.grammars().pieces(), .spelled = std::move(spelled)};
    if (wanted.grammar.empty()) return std::make_shared<const Constraint>(std::move(constraint));
    base::Result<std::shared_ptr<const Rules>> rules = model.grammars().rules(wanted.grammar);
    if (!rules) return std::unexpected(rules.error());
    if (!wanted.begun.empty() && !GrammarState(*rules).accept_text(wanted.begun)) {
        return base::fail(
            Code::template_failed,
            "The model's chat template begins replies in a way that its own syntax does not have.");
    }
    constraint.rules = std::move(*rules);
    constraint.begun = std::move(wanted.begun);
    constraint.triggers = std::move(wanted.triggers);
    return std::make_shared<const Constraint>(std::move(constraint));
}

base::Result<PreparedChat> prepare(const Model& model, const Chat& chat) {
    const bool has_tools = !chat.tools.empty() && chat.tool_choice != ToolChoice::none;
    std::string marker = make_marker();
    common_chat_params params = common_chat_templates_apply(model.templates(), to_inputs(chat, marker));
    // A grammar of the caller's own is for the whole reply: there is nothing in it to be told apart.
    const bool reads_reply = has_tools || (chat.grammar.empty() && may_reason(model, params));
    PreparedChat prepared{.text = std::move(params.prompt),
                          .marker = std::move(marker),
                          .stops = params.additional_stops,
                          .constraint = {},
                          .parser = {}};
    base::Result<std::shared_ptr<const Constraint>> constraint =
        constrain(model, wanted_of(chat, params, reads_reply),
                  reads_reply ? spelled_tokens(model, params) : std::vector<SpelledToken>());
    if (!constraint) return std::unexpected(constraint.error());
    prepared.constraint = std::move(*constraint);
    if (!reads_reply) return prepared;
    base::Result<std::shared_ptr<const ReplyParser>> parser =
        ReplyParser::create(params, chat.continues_last);
    if (!parser) return std::unexpected(parser.error());
    prepared.parser = std::move(*parser);
    return prepared;
}

/// The last thing that an error of the template engine says, without the places in the template that led to it.
std::string reason_of(const std::exception& error) {
    constexpr std::string_view kMark = "Error: ";
    std::string reason = error.what();
    if (const size_t mark = reason.rfind(kMark); mark != std::string::npos)
        reason.erase(0, mark + kMark.size());
    return reason.substr(0, reason.find('\n'));
}

} // namespace

base::Result<PreparedChat> prepare_chat(const Model& model, const Chat& chat) {
    try {
        const jinja::work_limit limit(kTemplateMs, kTemplateBytes);
        return prepare(model, chat);
    } catch (const std::exception& error) {
        return base::fail(Code::template_failed,
                          std::string("The model's chat template refused this conversation: ") +
                              reason_of(error));
    }
}

std::string readable_text(const PreparedChat& prepared) {
    std::string text = prepared.text;
    replace_all(text, prepared.marker, Vision::public_marker());
    return text;
}

base::Result<Vision::Prompt> tokenize_images(const Model& model, const ImageText& text,
                                             std::string_view marker) {
    if (model.vision() == nullptr) {
        return base::fail(
            Code::image_not_supported,
            "This model reads no pictures. Take one that does, or load it with its projector (mmproj).");
    }
    return model.vision()->tokenize(text.text, marker, text.images);
}

base::Result<Vision::Prompt> tokenize_chat(const Model& model, const PreparedChat& prepared, Chat chat) {
    std::vector<RgbImage> pictures;
    for (ChatMessage& message : chat.messages) {
        for (ContentPart& part : message.parts) {
            if (part.picture) pictures.push_back(std::move(*part.picture));
        }
    }
    if (pictures.empty()) {
        base::Result<std::vector<base::Token>> tokens = model.tokenize(prepared.text, true, true);
        if (!tokens) return std::unexpected(tokens.error());
        return Vision::Prompt{.tokens = std::move(*tokens), .images = {}};
    }
    return tokenize_images(model, {.text = prepared.text, .images = std::move(pictures)}, prepared.marker);
}

TemplateSkills skills_of(const Model& model) {
    const std::map<std::string, bool> caps = common_chat_templates_get_caps(model.templates());
    const std::string source = common_chat_templates_source(model.templates());
    const auto says = [&](std::string_view text) { return source.find(text) != std::string::npos; };
    const auto can = [&](const char* name) { return caps.contains(name) && caps.at(name); };
    return {.writes_tools = can("supports_tools"),
            .writes_tool_calls = can("supports_tool_calls"),
            .is_lfm2 = says("<|tool_list_start|>") || says("List of tools: [")};
}

} // namespace llama_rt
