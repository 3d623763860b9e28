#include "llama/chat/conversation.h"

#include "llama/backend/assertions.h"
#include "llama/chat/chat_template.h"
#include "llama/chat/reply_grammar.h"
#include "llama/chat/tool_arguments.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>

#include "chat.h"

namespace llama {

using base::Code;

namespace {

/// Maximum length of an error message that a template can raise.
constexpr size_t kReasonBytesMax = 1'000;

common_chat_tool_choice to_tool_choice(ToolChoice choice) {
    switch (choice) {
        case ToolChoice::automatic: return COMMON_CHAT_TOOL_CHOICE_AUTO;
        case ToolChoice::none: return COMMON_CHAT_TOOL_CHOICE_NONE;
        case ToolChoice::required: return COMMON_CHAT_TOOL_CHOICE_REQUIRED;
    }
    return COMMON_CHAT_TOOL_CHOICE_AUTO;
}

/// Only letters and digits, which no template escapes or trims.
std::string make_marker() {
    std::random_device random;
    std::string marker = "marker";
    for (int i = 0; i < 4; ++i) marker += std::to_string(random());
    return marker;
}

common_chat_msg to_message(const ChatMessage& message, const std::string& marker) {
    common_chat_msg out;
    out.role = message.role;
    if (message.parts.empty()) out.content = message.content;
    for (const ContentPart& part : message.parts) {
        if (part.image || part.audio) out.content_parts.push_back({.type = "media_marker", .text = marker});
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
    for (const Tool& tool : chat.tools)
        inputs.tools.push_back(
            {.name = tool.name, .description = tool.description, .parameters = tool.parameters});
    for (const auto& [name, value] : chat.template_arguments) inputs.chat_template_kwargs[name] = value;
    return inputs;
}

/// Whether replies in this format may have reasoning separate from the content.
bool may_reason(const Model& model, const common_chat_params& params) {
    if (!params.supports_thinking) return false;
    const std::string source = common_chat_templates_source(model.templates());
    return params.thinking_start_tag.empty() || source.find(params.thinking_start_tag) != std::string::npos;
}

/// Control tokens that are part of the syntax, so that a reply includes their text.
std::vector<grammar::SpelledToken> spelled_tokens(const Model& model, const common_chat_params& params) {
    std::vector<grammar::SpelledToken> spelled;
    for (const std::string& text : params.preserved_tokens) {
        const base::Token token = model.token_of(text);
        if (token >= 0 && !model.is_end_of_generation(token))
            spelled.push_back({.token = token, .text = text});
    }
    return spelled;
}

ReplyGrammar own_grammar(const Chat& chat) {
    if (!chat.content_rules.empty()) return content_grammar(chat.content_rules);
    ReplyGrammar grammar{.text = chat.grammar};
    if (!chat.grammar_trigger.empty()) grammar.triggers = grammar::Triggers{.words = {chat.grammar_trigger}};
    return grammar;
}

/// The grammar for content in a given form within the template's syntax; absent if the syntax has no reasoning to separate, or no
/// place for the form.
std::optional<ReplyGrammar> form_in_syntax(const Model& model, const Chat& chat,
                                           const common_chat_params& params) {
    if (!may_reason(model, params)) return std::nullopt;
    return form_grammar(params, chat.content_rules);
}

base::Result<ReplySyntax> with_grammar(const Model& model, ReplySyntax syntax, ReplyGrammar grammar) {
    if (grammar.text.empty()) return syntax;
    base::Result<std::shared_ptr<const grammar::Rules>> rules = rules_of(model.grammars(), grammar);
    if (!rules) return std::unexpected(rules.error());
    syntax.rules = std::move(*rules);
    syntax.begun = std::move(grammar.begun);
    syntax.triggers = std::move(grammar.triggers);
    return syntax;
}

base::Result<ReplySyntax> syntax_of(const Model& model, const Chat& chat,
                                    common_chat_templates_inputs inputs) {
    const common_chat_templates* templates = model.templates();
    const bool has_tools = !chat.tools.empty() && chat.tool_choice != ToolChoice::none;
    if (chat.content_rules.empty()) {
        ReplySyntax syntax{.params = common_chat_templates_apply(templates, inputs)};
        // A grammar from the caller covers the whole reply, so there is nothing to separate.
        syntax.reads_reply = has_tools || (chat.grammar.empty() && may_reason(model, syntax.params));
        const bool is_own = !syntax.reads_reply || !chat.grammar.empty();
        ReplyGrammar grammar = is_own
                                   ? own_grammar(chat)
                                   : calls_grammar(syntax.params, chat.parallel_tool_calls, chat.tool_rules);
        return with_grammar(model, std::move(syntax), std::move(grammar));
    }
    if (has_tools && !chat.content_has_calls)
        return form_or_calls(*templates, model.grammars(), std::move(inputs),
                             {.form = chat.content_rules, .calls = chat.tool_rules});
    ReplySyntax syntax;
    if (has_tools) syntax.params = common_chat_templates_apply(templates, inputs);
    ask_for_form(inputs);
    common_chat_params form = common_chat_templates_apply(templates, inputs);
    std::optional<ReplyGrammar> grammar = form_in_syntax(model, chat, form);
    syntax.reads_reply = has_tools || grammar.has_value();
    if (has_tools) syntax.form = std::move(form);
    else syntax.params = std::move(form);
    return with_grammar(model, std::move(syntax), grammar ? std::move(*grammar) : own_grammar(chat));
}

std::shared_ptr<const grammar::Constraint> constrain(const Model& model, ReplySyntax& syntax) {
    std::vector<grammar::SpelledToken> spelled;
    if (syntax.reads_reply) spelled = spelled_tokens(model, syntax.params);
    if (syntax.rules == nullptr && spelled.empty()) return nullptr;
    return std::make_shared<const grammar::Constraint>(
        grammar::Constraint{.rules = std::move(syntax.rules),
                            .pieces = model.grammars().pieces(),
                            .begun = std::move(syntax.begun),
                            .triggers = std::move(syntax.triggers),
                            .spelled = std::move(spelled)});
}

/// Adds the parts of a started reply, which llama.cpp appends to what the template writes: the reasoning in its tags, then the
/// content.
void add_started(const Model& model, common_chat_templates_inputs inputs, const common_chat_params& params,
                 std::vector<MarkedPart>& parts) {
    const std::string& prompt = params.prompt;
    common_chat_msg& last = inputs.messages.back();
    const std::string content = last.render_content();
    const std::string reasoning = last.reasoning_content;
    if (content.empty() && reasoning.empty()) return;
    if (!prompt.ends_with(params.generation_prompt) || !prompt.ends_with(content))
        throw std::runtime_error("it does not write the start of the reply as it is");
    const size_t begin = prompt.size() - params.generation_prompt.size();
    const size_t end = prompt.size() - content.size();
    if (!reasoning.empty()) {
        // Where it begins: what precedes it does not depend on it.
        last.reasoning_content = make_marker();
        const common_chat_params other = common_chat_templates_apply(model.templates(), inputs);
        const size_t before = other.generation_prompt.find(last.reasoning_content);
        if (before != std::string::npos)
            parts.emplace_back(begin + before, begin + before + reasoning.size());
    }
    if (end < prompt.size()) parts.emplace_back(end, prompt.size());
}

std::vector<MarkedPart> content_of(const Model& model, const Chat& chat, const common_chat_params& params,
                                   common_chat_templates_inputs inputs) {
    if (chat.special_tokens_in_content) return {};
    std::vector<MarkedPart> parts = params.prompt.input;
    if (chat.continues_last && !chat.messages.empty()) add_started(model, std::move(inputs), params, parts);
    return parts;
}

/// Replaces the placeholders, each of which ends a part of the content and begins another one.
void write_markup(const std::vector<Markup>& markup, PreparedChat& prepared) {
    const std::string& text = prepared.text;
    std::map<size_t, const Markup*> places;
    for (const Markup& one : markup) {
        const size_t size = one.placeholder.size();
        for (size_t at = 0; size > 0 && (at = text.find(one.placeholder, at)) != std::string::npos;
             at += size)
            places.emplace(at, &one);
    }
    if (places.empty()) return;
    std::string written;
    std::vector<MarkedPart> content;
    size_t done = 0;
    auto part = prepared.content.begin();
    const auto copy_until = [&](size_t end) {
        for (; part != prepared.content.end() && part->first < end; ++part) {
            const size_t first = std::max(part->first, done);
            const size_t last = std::min(part->second, end);
            if (first < last)
                content.emplace_back(written.size() + first - done, written.size() + last - done);
            if (part->second > end) break;
        }
        written.append(text, done, end - done);
        done = end;
    };
    for (const auto& [at, one] : places) {
        if (at < done) continue;
        copy_until(at);
        written += one->text;
        done = at + one->placeholder.size();
    }
    copy_until(text.size());
    prepared.text = std::move(written);
    prepared.content = std::move(content);
}

base::Result<PreparedChat> prepare(const Model& model, const Chat& chat) {
    const ArgumentRules argument_rules(chat);
    std::string marker = make_marker();
    common_chat_templates_inputs inputs = to_inputs(chat, marker);
    base::Result<ReplySyntax> syntax = syntax_of(model, chat, inputs);
    if (!syntax) return std::unexpected(syntax.error());
    PreparedChat prepared{.text = syntax->params.prompt,
                          .content = content_of(model, chat, syntax->params, std::move(inputs)),
                          .marker = std::move(marker),
                          .stops = syntax->params.additional_stops,
                          .constraint = constrain(model, *syntax),
                          .parser = {},
                          .thought = thought_syntax(syntax->params)};
    write_markup(chat.markup, prepared);
    if (!syntax->reads_reply) return prepared;
    base::Result<std::shared_ptr<const ReplyParser>> parser =
        ReplyParser::create(syntax->params, syntax->form ? &*syntax->form : nullptr, chat.continues_last);
    if (!parser) return std::unexpected(parser.error());
    prepared.parser = std::move(*parser);
    return prepared;
}

/// The last message in an error of the template engine, without its locations in the template.
std::string reason_of(const std::exception& error) {
    constexpr std::string_view kMark = "Error: ";
    std::string reason = error.what();
    if (const size_t mark = reason.rfind(kMark); mark != std::string::npos)
        reason.erase(0, mark + kMark.size());
    reason.resize(std::min(reason.find('\n'), reason.size()));
    if (reason.size() <= kReasonBytesMax) return reason;
    size_t end = kReasonBytesMax;
    while ((static_cast<unsigned char>(reason[end]) & 0xC0) == 0x80) --end; // a whole character
    return reason.substr(0, end) + "…";
}

base::Error reads_no_images() {
    return {
        .code = Code::image_not_supported,
        .message =
            "This model has no image input. Choose one that does, or load it with its projector (mmproj)."};
}

base::Error reads_no_audio() {
    return {
        .code = Code::audio_not_supported,
        .message =
            "This model has no audio input. Choose one that does, or load it with its projector (mmproj)."};
}

} // namespace

base::Result<PreparedChat> prepare_chat(const Model& model, const Chat& chat,
                                        const std::atomic<bool>& is_aborted) {
    const AssertionsThrow assertions_throw;
    base::Result<PreparedChat> prepared;
    try {
        const jinja::work_limit limit(template_allowance(chat, is_aborted));
        prepared = prepare(model, chat);
    } catch (const std::exception& error) {
        prepared = base::fail(Code::template_failed,
                              std::string("The model's chat template refused this conversation: ") +
                                  reason_of(error));
    }
    if (is_aborted.load()) return base::fail(Code::aborted, "Preparing the conversation was aborted.");
    return prepared;
}

std::string readable_text(const PreparedChat& prepared) {
    std::string text = prepared.text;
    string_replace_all(text, prepared.marker, std::string(Vision::public_marker()));
    return text;
}

base::Result<Vision::Prompt> tokenize_images(const Model& model, const ImageText& text,
                                             std::string_view marker) {
    if (model.vision() == nullptr) return std::unexpected(reads_no_images());
    const std::vector<Media> media(text.images.begin(), text.images.end());
    return model.vision()->tokenize(MarkedText{.text = text.text}, marker, media);
}

base::Result<Vision::Prompt> tokenize_chat(const Model& model, const PreparedChat& prepared, Chat chat) {
    std::vector<Media> media;
    for (ChatMessage& message : chat.messages) {
        for (ContentPart& part : message.parts) {
            if (part.image) media.emplace_back(std::move(*part.image));
            else if (part.audio) media.emplace_back(std::move(*part.audio));
        }
    }
    const MarkedText text{
        .text = prepared.text, .content = prepared.content, .markup = model.markup_tokens()};
    if (media.empty()) {
        base::Result<std::vector<base::Token>> tokens = model.tokenize(text);
        if (!tokens) return std::unexpected(tokens.error());
        return Vision::Prompt{.tokens = std::move(*tokens), .images = {}};
    }
    if (model.vision() != nullptr) return model.vision()->tokenize(text, prepared.marker, media);
    const bool is_image = std::holds_alternative<RgbImage>(media.front());
    return std::unexpected(is_image ? reads_no_images() : reads_no_audio());
}

} // namespace llama
