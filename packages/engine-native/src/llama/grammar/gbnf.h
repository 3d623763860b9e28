// A grammar in GBNF, llama.cpp's notation, read into flat rules. Whoever writes a grammar may be a stranger: reading is
// linear in its length and bounded in depth, and what could make matching endless (left recursion) is refused here.
// Used by Grammar.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llama_rt {

/// Both ends belong to it.
struct CharRange {
    uint32_t first;
    uint32_t last;
};

/// One place of an alternative. Alternatives are runs of elements that close with an `end`.
struct Element {
    enum class Kind : uint8_t {
        end,
        /// One character of `count` ranges, from `index` on.
        chars,
        /// The rule `index`.
        rule,
        /// The rule `index`, `min` to `max` times.
        repeat,
        /// The token `index`.
        token,
        /// Any token but `index`.
        other_token,
    };
    Kind kind = Kind::end;
    uint32_t index = 0;
    uint32_t count = 0;
    uint32_t min = 0;
    uint32_t max = 0;
};

inline constexpr uint32_t kNoMax = std::numeric_limits<uint32_t>::max();

struct Rules {
    std::vector<Element> elements;
    /// Of one element: ascending and apart from each other. Surrogates are in none.
    std::vector<CharRange> ranges;
    /// For each rule, where its alternatives begin in `elements`.
    std::vector<std::vector<uint32_t>> alternatives;
    /// The rule called "root".
    uint32_t root = 0;
};

/// The one token that a text such as "<think>" is; -1 when it is none or several.
using TokenFinder = std::function<base::Token(std::string_view text)>;

/// `invalid_argument` says what is wrong and where.
base::Result<Rules> read_gbnf(std::string_view text, const TokenFinder& find_token);

/// A text as a literal of GBNF, quotes included.
std::string gbnf_literal(std::string_view text);

/// Whether there is any text that the grammar has. Tokens have one.
bool has_texts(const Rules& rules);

/// The grammar of texts that either of two grammars has.
Rules either_of(const Rules& one, const Rules& other);

} // namespace llama_rt
