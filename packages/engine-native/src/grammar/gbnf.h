// Reads a grammar in GBNF, llama.cpp's notation, into flat rules. Grammars are untrusted: reading is linear in their length and
// bounded in depth, and left recursion, which would make matching endless, is rejected.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grammar {

/// The last Unicode code point.
inline constexpr uint32_t kCharMax = 0x10FFFF;

/// Unicode code points, both ends included.
struct CharRange {
    uint32_t first;
    uint32_t last;
};

/// One element of an alternative. An alternative is a run of elements that ends with an `end`.
struct Element {
    enum class Kind : uint8_t {
        end,
        /// One character out of `count` ranges, from range `index` on.
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
    /// The ranges of one element are ascending and neither overlap nor touch. None contains surrogates.
    std::vector<CharRange> ranges;
    /// For each rule, the indices in `elements` where its alternatives begin.
    std::vector<std::vector<uint32_t>> alternatives;
    /// The rule called "root".
    uint32_t root = 0;
};

/// Returns the token whose text is exactly this, such as "<think>"; -1 if the text is not one token.
using TokenFinder = std::function<base::Token(std::string_view text)>;

/// Reads a grammar. `invalid_argument` says what is wrong and in which line.
base::Result<Rules> read_gbnf(std::string_view text, const TokenFinder& find_token);

/// The text as a GBNF literal, quotes included.
std::string gbnf_literal(std::string_view text);

/// Appends a character class in normal form: ascending, merged, and without surrogates, which UTF-8 does not encode.
void append_characters(std::vector<CharRange> ranges, std::vector<CharRange>& out);

/// Prepares the rules of a whole grammar for matching. Rejects left recursion, with which matching would never reach a character, and
/// long repetitions of rules that may be empty. Sets the minimum of the other such repetitions to 0, which matches the same texts.
/// Returns the error, or nothing. Linear in the size of the rules.
std::optional<std::string> prepare_rules(Rules& rules);

/// Whether the grammar matches any text at all. Every token counts as a text.
bool has_texts(const Rules& rules);

/// A grammar that matches what either of the two matches.
Rules either_of(const Rules& one, const Rules& other);

} // namespace grammar
