// The lexical elements of GBNF: names, characters with their escapes, character classes, repetitions.
#pragma once

#include "base/types.h"
#include "llama/grammar/gbnf.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llama_rt {

inline constexpr uint32_t kCharMax = 0x10FFFF;

/// Reads from the front. After the first error it stops and keeps that error.
class GbnfText {
public:
    explicit GbnfText(std::string_view text) : text_(text) {}

    bool failed() const { return !error_.empty(); }
    /// What is wrong, with the line; empty if nothing is.
    const std::string& error() const { return error_; }
    void fail(std::string what);

    bool at_end() const { return at_ >= text_.size(); }
    /// The next character, or one `ahead` of it; 0 at the end.
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    /// Skips this character if it is next; false if it is not.
    bool take(char character);
    void expect(std::string_view word);

    /// Skips blanks and comments, and with `over_lines` also line ends.
    void skip_space(bool over_lines);
    void end_of_rule();

    bool at_name() const;
    std::string_view name();

    /// Reads one character of a literal or class, resolving escapes.
    uint32_t character();
    /// Reads a character class up to its ]; the [ has been taken.
    std::vector<CharRange> char_class();

    struct TokenName {
        /// -1 if the token is given by its text.
        base::Token id;
        std::string_view text;
    };
    /// Reads <text> or <[id]>.
    TokenName token_name();

    bool is_repetition() const;
    /// Reads *, +, ? or {}; returns the minimum and maximum, kNoMax for no limit.
    std::pair<uint32_t, uint32_t> repetition();

private:
    uint32_t hexadecimal(int digits);
    uint32_t number();

    std::string_view text_;
    size_t at_ = 0;
    std::string error_;
};

} // namespace llama_rt
