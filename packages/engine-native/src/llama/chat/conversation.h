// Prepares a conversation for a model: renders it with the model's chat template, and makes the constraint and the parser for
// the reply. llama.cpp's common_chat knows the templates. Runs on worker threads.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"
#include "grammar/constraint.h"
#include "llama/chat/reply_parser.h"
#include "llama/chat/thought_syntax.h"
#include "llama/chat/tool_arguments.h"
#include "llama/model/marked_text.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llama {

/// Text, an image or an audio.
struct ContentPart {
    std::string text;
    std::optional<RgbImage> image = std::nullopt;
    std::optional<AudioFile> audio = std::nullopt;
};

constexpr auto fields_of(const ContentPart*) {
    return base::rows(base::field("text", &ContentPart::text), base::field("image", &ContentPart::image),
                      base::field("audio", &ContentPart::audio));
}

struct ChatMessage {
    std::string role;
    std::string content;
    /// Replaces `content` in a message with images or audio.
    std::vector<ContentPart> parts;
    std::string reasoning;
    std::vector<ToolCall> tool_calls;
    /// For role "tool": the id of the call that this is the result of.
    std::string tool_call_id;
    /// For role "tool": the tool's name.
    std::string name;
};

constexpr auto fields_of(const ChatMessage*) {
    return base::rows(
        base::field("role", &ChatMessage::role), base::field("content", &ChatMessage::content),
        base::field("parts", &ChatMessage::parts), base::field("reasoning", &ChatMessage::reasoning),
        base::field("toolCalls", &ChatMessage::tool_calls),
        base::field("toolCallId", &ChatMessage::tool_call_id), base::field("name", &ChatMessage::name));
}

struct Tool {
    std::string name;
    std::string description;
    /// A JSON schema as text, for the template.
    std::string parameters;
    /// The schema from which llama.cpp takes the grammar and the parser of calls; empty: `parameters`.
    std::string arguments_schema = {};
};

constexpr auto fields_of(const Tool*) {
    return base::rows(base::field("name", &Tool::name), base::field("description", &Tool::description),
                      base::field("parameters", &Tool::parameters),
                      base::field("argumentsSchema", &Tool::arguments_schema));
}

enum class ToolChoice { automatic, none, required };

/// A variable for the template.
struct TemplateArgument {
    std::string name;
    /// JSON.
    std::string value;
};

constexpr auto fields_of(const TemplateArgument*) {
    return base::rows(base::field("name", &TemplateArgument::name),
                      base::field("value", &TemplateArgument::value));
}

/// A text that stands in messages for a special token: letters and digits that are nowhere else.
struct Markup {
    std::string placeholder;
    std::string text;
};

constexpr auto fields_of(const Markup*) {
    return base::rows(base::field("placeholder", &Markup::placeholder), base::field("text", &Markup::text));
}

struct Chat {
    std::vector<ChatMessage> messages;
    bool add_generation_prompt = true;
    /// Whether the last message is the start of the reply.
    bool continues_last = false;
    std::vector<Tool> tools = {};
    /// GBNF rules for the tools' arguments, and what they stand for. llama.cpp converts the other schemas.
    std::string tool_rules = {};
    std::vector<ArgumentRule> argument_rules = {};
    ToolChoice tool_choice = ToolChoice::automatic;
    bool parallel_tool_calls = true;
    bool enable_thinking = true;
    std::vector<TemplateArgument> template_arguments = {};
    /// GBNF rules that the reply's content must match, the first of them "ingle-json"; empty: any content. With tools that may be
    /// called, a reply either matches these rules or consists of calls. Must be empty if tools must be called.
    std::string content_rules = {};
    /// Whether `content_rules` include the calls, in place of llama.cpp's syntax for them.
    bool content_has_calls = false;
    /// A GBNF grammar for the whole reply, or for the part from `grammar_trigger` on unless that is empty. Replaces llama.cpp's
    /// grammar for tools. Empty: none. Excludes content_rules.
    std::string grammar = {};
    std::string grammar_trigger = {};
    /// Special tokens in messages that whoever rendered them wrote there.
    std::vector<Markup> markup = {};
    /// Whether special tokens that are spelled in messages, tools and arguments are read as such tokens.
    bool special_tokens_in_content = false;
};

constexpr auto fields_of(const Chat*) {
    return base::rows(
        base::field("messages", &Chat::messages),
        base::field("addGenerationPrompt", &Chat::add_generation_prompt),
        base::field("continuesLast", &Chat::continues_last), base::field("tools", &Chat::tools),
        base::field("toolRules", &Chat::tool_rules), base::field("argumentRules", &Chat::argument_rules),
        base::choice("toolChoice", &Chat::tool_choice,
                     {{"auto", ToolChoice::automatic},
                      {"none", ToolChoice::none},
                      {"required", ToolChoice::required}}),
        base::field("parallelToolCalls", &Chat::parallel_tool_calls),
        base::field("enableThinking", &Chat::enable_thinking),
        base::field("templateArguments", &Chat::template_arguments),
        base::field("contentRules", &Chat::content_rules),
        base::field("contentHasCalls", &Chat::content_has_calls), base::field("grammar", &Chat::grammar),
        base::field("grammarTrigger", &Chat::grammar_trigger), base::field("markup", &Chat::markup),
        base::field("specialTokensInContent", &Chat::special_tokens_in_content));
}

struct PreparedChat {
    std::string text;
    /// The parts of `text` in which special tokens are not recognized: what the template was given, unlike what it writes itself.
    std::vector<MarkedPart> content;
    /// Stands for each image and audio in `text`. Random, so that no message can contain it.
    std::string marker;
    /// Texts that end a turn in the template's format, in addition to the model's end tokens.
    std::vector<std::string> stops;
    /// Null: any text.
    std::shared_ptr<const grammar::Constraint> constraint;
    /// Null: the whole reply is content.
    std::shared_ptr<const ReplyParser> parser;
    ThoughtSyntax thought;
};

/// Data needed besides the tokens.
constexpr auto fields_of(const PreparedChat*) {
    return base::rows(
        base::field("stops", &PreparedChat::stops), base::field("constraint", &PreparedChat::constraint),
        base::field("parser", &PreparedChat::parser), base::field("thought", &PreparedChat::thought));
}

/// Renders the conversation. `template_failed` if the template rejects it or exceeds its limits (chat_template.h),
/// `invalid_argument` for an invalid grammar, `aborted` soon after another thread sets `is_aborted`.
base::Result<PreparedChat> prepare_chat(const Model& model, const Chat& chat,
                                        const std::atomic<bool>& is_aborted);

/// A prepared conversation as readable text, with Vision::public_marker() for each image and audio.
std::string readable_text(const PreparedChat& prepared);

/// A text with a marker for each of its images, in their order.
struct ImageText {
    std::string text;
    std::vector<RgbImage> images;
};

constexpr auto fields_of(const ImageText*) {
    return base::rows(base::field("text", &ImageText::text), base::field("images", &ImageText::images));
}

/// The text's tokens and its images. `image_not_supported` if the model has no image input; otherwise fails as
/// Vision::tokenize().
base::Result<Vision::Prompt> tokenize_images(const Model& model, const ImageText& text,
                                             std::string_view marker = Vision::public_marker());

/// The tokens of a prepared conversation, its images and its audio. Fails as Vision::tokenize() and Model::tokenize(), and with
/// `image_not_supported` or `audio_not_supported` if the model has no projector.
base::Result<Vision::Prompt> tokenize_chat(const Model& model, const PreparedChat& prepared, Chat chat);

} // namespace llama
