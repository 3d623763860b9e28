#pragma once

#include "lexer.h"
#include "runtime.h"

namespace jinja {

// throws syntax_error
program parse_from_tokens(const lexer_result & tokens);

} // namespace jinja
