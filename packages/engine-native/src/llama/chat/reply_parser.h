// Parses a model's reply into content, reasoning and tool calls. llama.cpp's parsers know the syntax of each template. Runs on
// worker threads.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <memory>
#include <string>
#include <vector>

struct common_chat_params;

namespace llama {

struct ToolCall {
    std::string id;
    std::string name;
    /// A JSON object as text; in a partial reply, only its start.
    std::string arguments;
};

constexpr auto fields_of(const ToolCall*) {
    return base::rows(base::field("id", &ToolCall::id), base::field("name", &ToolCall::name),
                      base::field("arguments", &ToolCall::arguments));
}

struct Reply {
    std::string content;
    std::string reasoning;
    std::vector<ToolCall> calls;
};

constexpr auto fields_of(const Reply*) {
    return base::rows(base::field("content", &Reply::content), base::field("reasoning", &Reply::reasoning),
                      base::field("calls", &Reply::calls));
}

class ReplyParser {
public:
    /// A parser for the `params` that llama.cpp returned for the prompt, or for replies that consist of calls (`params`) or else
    /// of content in a given form (`form`, unless null). `continues`: the prompt ends with the reply's start.
    static base::Result<std::shared_ptr<const ReplyParser>>
    create(const common_chat_params& params, const common_chat_params* form, bool continues);
    ~ReplyParser();
    ReplyParser(const ReplyParser&) = delete;
    ReplyParser& operator=(const ReplyParser&) = delete;

    /// Parses a reply, or the start of one. Takes at least linear time. `engine_failed` if the reply does not follow
    /// the format; treat all of it as content then.
    base::Result<Reply> parse(const std::string& text, bool is_partial) const;

private:
    struct Syntax;
    ReplyParser(std::unique_ptr<Syntax> syntax, std::shared_ptr<const ReplyParser> form);
    base::Result<Reply> parse_calls(const std::string& text, bool is_partial) const;

    std::unique_ptr<Syntax> syntax_;
    /// Parses replies without calls; null if `syntax_` covers all replies.
    std::shared_ptr<const ReplyParser> form_;
};

} // namespace llama
