// Reads a model's reply: what of it is content, what is reasoning, and which tools it calls. llama.cpp's parsers know
// the syntax of each template. Made by prepare_chat(), used by worker threads.
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
        /// JSON text; of a partial reply, its beginning.
        std::string arguments;
    };
    std::string content;
    std::string reasoning;
    std::vector<Call> calls;
};

class ReplyParser {
public:
    /// From what llama.cpp gave for the prompt. `continues` when the prompt ends with the reply's beginning.
    static base::Result<std::shared_ptr<const ReplyParser>> create(const common_chat_params& params,
                                                                   bool continues);
    /// The same for replies that are calls, or content of a form as the second says.
    static base::Result<std::shared_ptr<const ReplyParser>>
    create_with_form(const common_chat_params& calls, const common_chat_params& form, bool continues);
    ~ReplyParser();
    ReplyParser(const ReplyParser&) = delete;
    ReplyParser& operator=(const ReplyParser&) = delete;

    /// Reads a reply, or the beginning of one. Its cost grows with the text. `engine_failed` when it is none of the
    /// format's; then all of it is content.
    base::Result<Reply> parse(const std::string& text, bool is_partial) const;

private:
    struct Syntax;
    explicit ReplyParser(std::unique_ptr<Syntax> syntax, std::shared_ptr<const ReplyParser> form = nullptr);
    base::Result<Reply> parse_calls(const std::string& text, bool is_partial) const;

    std::unique_ptr<Syntax> syntax_;
    /// Reads a reply that is no call; null where the syntax reads all of them.
    std::shared_ptr<const ReplyParser> form_;
};

} // namespace llama_rt
