#pragma once

#include "lexer.h"
#include "runtime.h"

namespace jinja {

// throws syntax_error
program parse_from_tokens(const lexer_result & tokens);

// the tags that begin a statement
std::vector<std::string> statement_names();

} // namespace jinja
