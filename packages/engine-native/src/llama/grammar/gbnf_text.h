// The words of GBNF: names, characters with their escapes, classes, repetitions. Used by gbnf.cpp.
#pragma once

#include "base/types.h"
#include "llama/grammar/gbnf.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llama_rt {

inline constexpr uint32_t kCharMax = 0x10FFFF;

/// Reads from the front. After the first mistake it stands still and remembers that mistake.
class GbnfText {
public:
    explicit GbnfText(std::string_view text) : text_(text) {}

    bool failed() const { return !error_.empty(); }
    /// A sentence with the line.
    const std::string& error() const { return error_; }
    void fail(std::string what);

    bool at_end() const { return at_ >= text_.size(); }
    /// 0 at the end.
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    /// Steps over this character when it is here.
    bool take(char character);
    void expect(std::string_view word);

    /// Blanks and comments, line ends only where they mean nothing.
    void skip_space(bool over_lines);
    void end_of_rule();

    bool at_name() const;
    std::string_view name();

    /// One character of a literal or class, with its escapes.
    uint32_t character();
    /// What stands between [ and ]; the [ has been taken.
    std::vector<CharRange> char_class();

    struct TokenName {
        /// -1 when the token is given by its text.
        base::Token id;
        std::string_view text;
    };
    /// <text> or <[id]>
    TokenName token_name();

    bool is_repetition() const;
    /// Least and most of *, +, ? or {}; kNoMax is no limit.
    std::pair<uint32_t, uint32_t> repetition();

private:
    uint32_t hexadecimal(int digits);
    uint32_t number();

    std::string_view text_;
    size_t at_ = 0;
    std::string error_;
};

} // namespace llama_rt
