// A conversation made ready for a model: written out with the model's own template, and what must be known to hold the
// reply to the tools' syntax and to read it again. llama.cpp's common_chat knows the templates. Worker threads.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "llama/chat/reply_parser.h"
#include "llama/grammar/constraint.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llama_rt {

struct ToolCall {
    std::string id;
    std::string name;
    /// A JSON object as text.
    std::string arguments;
};

/// A piece of text, or a picture.
struct ContentPart {
    std::string text;
    std::optional<RgbImage> picture = std::nullopt;
};

struct ChatMessage {
    std::string role;
    std::string content;
    /// Instead of `content` where there are pictures.
    std::vector<ContentPart> parts;
    std::string reasoning;
    std::vector<ToolCall> tool_calls;
    /// Of a message of the role "tool": which call it answers.
    std::string tool_call_id;
    /// Of a message of the role "tool": the tool's name.
    std::string name;
};

struct Tool {
    std::string name;
    std::string description;
    /// A JSON schema as text.
    std::string parameters;
};

enum class ToolChoice { automatic, none, required };

struct Chat {
    std::vector<ChatMessage> messages;
    bool add_generation_prompt = true;
    /// The last message is the beginning of the reply.
    bool continues_last = false;
    std::vector<Tool> tools = {};
    ToolChoice tool_choice = ToolChoice::automatic;
    bool parallel_tool_calls = true;
    bool enable_thinking = true;
    /// More for the template: name and JSON text.
    std::vector<std::pair<std::string, std::string>> template_arguments = {};
    /// The reply's content is held to these rules of GBNF, whose first is "ingle-json". Empty: it is not. With tools that
    /// may be called, a reply is of these rules or calls; where they must be called, there are no such rules.
    std::string content_rules = {};
    /// `content_rules` have the calls, too: llama.cpp's syntax for them is not to be used.
    bool content_has_calls = false;
    /// A GBNF grammar for the whole reply, from the word `grammar_trigger` on when there is one; instead of llama.cpp's
    /// where there are tools. Empty: none. Excludes content_rules.
    std::string grammar = {};
    std::string grammar_trigger = {};
};

struct PreparedChat {
    std::string text;
    /// Stands in `text` for each picture. Nobody can know it before, and so nobody can write it.
    std::string marker;
    /// Texts at which the template's format ends a turn, beside the model's end tokens.
    std::vector<std::string> stops;
    /// Null: any text.
    std::shared_ptr<const Constraint> constraint;
    /// Null: the reply is nothing but content.
    std::shared_ptr<const ReplyParser> parser;
};

/// `template_failed` when the template refuses the conversation or takes too much for it, `invalid_argument` for a grammar,
/// `aborted` soon after another thread has set the flag.
base::Result<PreparedChat> prepare_chat(const Model& model, const Chat& chat,
                                        const std::atomic<bool>& is_aborted);

/// A prepared conversation for people, with Vision::public_marker() for a picture.
std::string readable_text(const PreparedChat& prepared);

/// A text with a marker for each of its images, in their order.
struct ImageText {
    std::string text;
    std::vector<RgbImage> images;
};

/// Its tokens, and the images among them. `image_not_supported` where the model reads none; else as Vision::tokenize().
base::Result<Vision::Prompt> tokenize_images(const Model& model, const ImageText& text,
                                             std::string_view marker = Vision::public_marker());

/// The tokens of a prepared conversation, and the images among them. `image_not_supported` where the model reads none.
base::Result<Vision::Prompt> tokenize_chat(const Model& model, const PreparedChat& prepared, Chat chat);

} // namespace llama_rt
