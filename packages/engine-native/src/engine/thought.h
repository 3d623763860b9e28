// Follows a reply into its thoughts and out of them, counts their tokens, and ends one that is longer than it may be: by tokens that
// must come next. Pure.
//
//     outside ──"<think>"──▶ inside ──"</think>"──▶ outside ...
//                              │ no tokens left, or end()
//                              ▼
//                           closing ──all of its tokens──▶ outside
//
// A thought is never ended inside a character.
#pragma once

#include "base/fields.h"
#include "base/types.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct ThoughtRules {
    /// The text before a thought, and those that end one. Without an end, nothing is followed.
    std::string begin = {};
    std::vector<std::string> ends = {};
    /// Whether the prompt ends inside a thought.
    bool is_open = false;
    /// Maximum number of tokens of all thoughts together; -1 for no limit.
    int32_t tokens_max = -1;
    /// Instead of that: the share of the request's own limit of tokens; 0 for none.
    float share = 0;
    /// The tokens that end a thought, the last of them those of an end.
    std::vector<base::Token> closing = {};
};

constexpr auto fields_of(const ThoughtRules*) {
    return base::rows(base::field("begin", &ThoughtRules::begin), base::field("ends", &ThoughtRules::ends),
                      base::field("isOpen", &ThoughtRules::is_open),
                      base::field("tokensMax", &ThoughtRules::tokens_max, {.min = -1}),
                      base::field("share", &ThoughtRules::share, {.min = 0, .max = 1}),
                      base::field("closing", &ThoughtRules::closing));
}

class Thought {
public:
    explicit Thought(ThoughtRules rules);

    bool is_followed() const { return !rules_.ends.empty(); }

    /// The token that must come next, to end the thought; otherwise any may.
    std::optional<base::Token> next() const;

    /// Whether next() may tell a token before `tokens` more have come.
    bool may_close_within(size_t tokens) const;

    /// The reply goes on with a token, and with this text.
    void note(std::string_view piece);

    /// Ends the thought, from the next token on. False if there is none.
    bool end();

    /// Gives up: the reply's constraint does not allow the tokens.
    void give_up();

    /// Tokens of thoughts so far, with the marks after them.
    int32_t tokens() const { return tokens_; }

private:
    enum class Place : uint8_t { outside, inside, closing };

    bool has_used_all() const { return rules_.tokens_max >= 0 && spent_ >= rules_.tokens_max; }
    void look_for_marks();
    void close_if_due();

    const ThoughtRules rules_;
    /// Bytes of the longest mark.
    size_t mark_bytes_;
    Place place_;
    /// The end of the text, which may hold the start of a mark.
    std::string tail_;
    int32_t tokens_ = 0;
    /// Tokens of thoughts, without those that closed one.
    int32_t spent_ = 0;
    bool is_asked_to_end_ = false;
    size_t closed_ = 0;
};

} // namespace engine
