// Checks and normalizes the rules of a whole grammar before anything is matched.
#pragma once

#include "llama/grammar/gbnf.h"

#include <optional>
#include <string>
#include <vector>

namespace llama_rt {

/// Appends a character class in normal form: ascending, merged, and without surrogates, which UTF-8 does not encode.
void append_characters(std::vector<CharRange> ranges, std::vector<CharRange>& out);

/// Rejects left recursion, with which matching would never reach a character, and long repetitions of rules that may be empty.
/// Sets the minimum of the other such repetitions to 0, which matches the same texts. Returns what is wrong, or nothing. Linear
/// in the size of the rules.
std::optional<std::string> prepare_rules(Rules& rules);

} // namespace llama_rt
