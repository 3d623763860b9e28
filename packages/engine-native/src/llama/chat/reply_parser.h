// Parses a model's reply into content, reasoning and tool calls. llama.cpp's parsers know the syntax of each template. Runs on
// worker threads.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <vector>

struct common_chat_params;

namespace llama_rt {

struct Reply {
    struct Call {
        std::string id;
        std::string name;
        /// JSON text; in a partial reply, only its start.
        std::string arguments;
    };
    std::string content;
    std::string reasoning;
    std::vector<Call> calls;
};

class ReplyParser {
public:
    /// A parser for the `params` that llama.cpp returned for the prompt. `continues`: the prompt ends with the reply's start.
    static base::Result<std::shared_ptr<const ReplyParser>> create(const common_chat_params& params,
                                                                   bool continues);
    /// The same for replies that are calls (`calls`) or content in a given form (`form`).
    static base::Result<std::shared_ptr<const ReplyParser>>
    create_with_form(const common_chat_params& calls, const common_chat_params& form, bool continues);
    ~ReplyParser();
    ReplyParser(const ReplyParser&) = delete;
    ReplyParser& operator=(const ReplyParser&) = delete;

    /// Parses a reply, or the start of one. Takes time linear in the text or more. `engine_failed` if the reply does not follow
    /// the format; treat all of it as content then.
    base::Result<Reply> parse(const std::string& text, bool is_partial) const;

private:
    struct Syntax;
    explicit ReplyParser(std::unique_ptr<Syntax> syntax, std::shared_ptr<const ReplyParser> form = nullptr);
    base::Result<Reply> parse_calls(const std::string& text, bool is_partial) const;

    std::unique_ptr<Syntax> syntax_;
    /// Parses replies without calls; null if `syntax_` covers all replies.
    std::shared_ptr<const ReplyParser> form_;
};

} // namespace llama_rt
