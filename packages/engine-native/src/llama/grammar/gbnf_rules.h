// What must hold of all rules of a grammar before anything is matched: a look at them as a whole. Used by gbnf.cpp.
#pragma once

#include "llama/grammar/gbnf.h"

#include <optional>
#include <string>
#include <vector>

namespace llama_rt {

/// Appends a class in the form that matching wants: ascending, apart, and without surrogates, which no UTF-8 has.
void append_characters(std::vector<CharRange> ranges, std::vector<CharRange>& out);

/// Refuses left recursion, which would never come to a character, and repetitions of nothing. Takes the least number
/// off repetitions of what may be empty: being empty as often as is wanted costs nothing. Linear in the rules' size.
std::optional<std::string> prepare_rules(Rules& rules);

} // namespace llama_rt
