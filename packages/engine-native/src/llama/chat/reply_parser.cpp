#include "llama/chat/reply_parser.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "chat.h"

namespace llama {

using base::Code;

namespace {

/// Deepest nesting of brackets: llama.cpp's parser recurses, and a client can make the model nest as deeply as it likes.
constexpr int kDepthMax = 200;

/// Also counts brackets in strings, so that the depth is never less than the parser's.
bool is_too_deep(const std::string& text) {
    int depth = 0;
    int deepest = 0;
    for (const char c : text) {
        if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
        else if ((c == '}' || c == ']') && depth > 0) depth -= 1;
    }
    return deepest > kDepthMax;
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
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
    /// The start of the reply that is already in the prompt: the parser returns it each time, and it is removed.
    Reply begun;

    /// Throws what llama.cpp throws.
    static std::unique_ptr<Syntax> of(const common_chat_params& params, bool continues) {
        auto syntax = std::make_unique<Syntax>();
        syntax->params = common_chat_parser_params(params);
        syntax->params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
        syntax->params.is_continuation = continues;
        if (!params.parser.empty()) syntax->params.parser.load(params.parser);
        if (continues) syntax->begun = to_reply(common_chat_parse("", true, syntax->params));
        return syntax;
    }
};

ReplyParser::ReplyParser(std::unique_ptr<Syntax> syntax, std::shared_ptr<const ReplyParser> form)
    : syntax_(std::move(syntax)), form_(std::move(form)) {}
ReplyParser::~ReplyParser() = default;

base::Result<std::shared_ptr<const ReplyParser>>
ReplyParser::create(const common_chat_params& params, const common_chat_params* form, bool continues) {
    try {
        std::shared_ptr<const ReplyParser> of_form;
        if (form != nullptr) of_form.reset(new ReplyParser(Syntax::of(*form, continues), nullptr));
        return std::shared_ptr<const ReplyParser>(
            new ReplyParser(Syntax::of(params, continues), std::move(of_form)));
    } catch (const std::exception& error) {
        return base::fail(Code::engine_failed,
                          std::string("The parser for this template's replies could not be created: ") +
                              error.what());
    }
}

base::Result<Reply> ReplyParser::parse(const std::string& text, bool is_partial) const {
    base::Result<Reply> reply = parse_calls(text, is_partial);
    if (form_ == nullptr) return reply;
    // Only reasoning may precede calls: what looks like a call inside the form is content.
    if (reply && !reply->calls.empty() && is_blank(reply->content)) {
        reply->content.clear();
        return reply;
    }
    const bool may_become_call = !reply || is_blank(reply->content);
    if (!is_partial || !may_become_call) {
        base::Result<Reply> of_form = form_->parse(text, is_partial);
        if (of_form || !is_partial) return of_form ? std::move(of_form) : std::move(reply);
    }
    // It may still become a call, so none of it counts as content yet, not even whitespace.
    if (reply) reply->content.clear();
    return reply;
}

base::Result<Reply> ReplyParser::parse_calls(const std::string& text, bool is_partial) const {
    if (is_too_deep(text))
        return base::fail(Code::engine_failed, "The reply is nested too deeply to be parsed.");
    try {
        Reply reply = to_reply(common_chat_parse(text, is_partial, syntax_->params));
        drop_prefix(reply.content, syntax_->begun.content);
        drop_prefix(reply.reasoning, syntax_->begun.reasoning);
        return reply;
    } catch (const std::exception&) {
        // The exception's message is dropped: it contains the reply's text.
        return base::fail(Code::engine_failed, "The reply does not follow its template's format.");
    }
}

} // namespace llama
