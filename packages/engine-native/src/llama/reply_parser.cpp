#include "llama/reply_parser.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "chat.h"

namespace llama_rt {

using base::Code;

namespace {

/// Brackets inside brackets. llama.cpp's parser recurses with them, and a reply is as deep as somebody made the model
/// write it.
constexpr int kDepthMax = 200;

/// Strings are not told apart: a bracket in one counts, so that the depth is never less than the parser's.
bool is_too_deep(const std::string& text) {
    int depth = 0;
    int deepest = 0;
    for (const char c : text) {
        if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
        else if ((c == '}' || c == ']') && depth > 0) depth -= 1;
    }
    return deepest > kDepthMax;
}

void drop_prefix(std::string& text, const std::string& prefix) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
}

Reply to_reply(common_chat_msg&& message) {
    Reply reply{
        .content = message.render_content(), .reasoning = std::move(message.reasoning_content), .calls = {}};
    for (common_chat_tool_call& call : message.tool_calls) {
        reply.calls.push_back(
            {.id = std::move(call.id), .name = std::move(call.name), .arguments = std::move(call.arguments)});
    }
    return reply;
}

} // namespace

struct ReplyParser::Syntax {
    common_chat_parser_params params;
    /// What the prompt has begun of the reply: the parser reads it again each time, and it is no news.
    Reply begun;
};

ReplyParser::ReplyParser(std::unique_ptr<Syntax> syntax) : syntax_(std::move(syntax)) {}
ReplyParser::~ReplyParser() = default;

base::Result<std::shared_ptr<const ReplyParser>> ReplyParser::create(const common_chat_params& params,
                                                                     bool continues) {
    try {
        auto syntax = std::make_unique<Syntax>();
        syntax->params = common_chat_parser_params(params);
        syntax->params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
        syntax->params.is_continuation = continues;
        if (!params.parser.empty()) syntax->params.parser.load(params.parser);
        if (continues) syntax->begun = to_reply(common_chat_parse("", true, syntax->params));
        return std::shared_ptr<const ReplyParser>(new ReplyParser(std::move(syntax)));
    } catch (const std::exception& error) {
        return base::fail(Code::engine_failed,
                          std::string("The parser for this template's replies could not be made: ") +
                              error.what());
    }
}

base::Result<Reply> ReplyParser::parse(const std::string& text, bool is_partial) const {
    if (is_too_deep(text))
        return base::fail(Code::engine_failed, "The reply is nested too deeply to be read.");
    try {
        Reply reply = to_reply(common_chat_parse(text, is_partial, syntax_->params));
        drop_prefix(reply.content, syntax_->begun.content);
        drop_prefix(reply.reasoning, syntax_->begun.reasoning);
        return reply;
    } catch (const std::exception&) {
        // Its words hold the reply's text.
        return base::fail(Code::engine_failed, "The reply does not follow its template's format.");
    }
}

} // namespace llama_rt
