// Grammars and vocabularies for the tests of constrained sampling.
#pragma once

#include "grammar/constraint.h"
#include "grammar/gbnf.h"
#include "grammar/grammar.h"
#include "grammar/pieces.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// "<end>" is token 0 of every vocabulary here, and "<think>" token 1.
inline base::Token find_token(std::string_view text) {
    if (text == "<end>") return 0;
    return text == "<think>" ? 1 : -1;
}

inline base::Result<std::shared_ptr<const grammar::Rules>> read(std::string_view text) {
    base::Result<grammar::Rules> rules = grammar::read_gbnf(text, find_token);
    if (!rules) return std::unexpected(rules.error());
    return std::make_shared<const grammar::Rules>(std::move(*rules));
}

inline std::shared_ptr<const grammar::Rules> rules_of(std::string_view text) {
    return read(text).value();
}

/// Whether the grammar's language has the text.
inline bool matches(std::string_view grammar, std::string_view text) {
    grammar::GrammarState state(rules_of(grammar));
    return state.accept_text(text) && state.may_end();
}

/// What is wrong with a grammar; empty when nothing is.
inline std::string problem_of(std::string_view grammar) {
    const auto rules = read(grammar);
    return rules ? std::string() : rules.error().message;
}

inline std::shared_ptr<const grammar::Pieces> pieces_of(std::vector<std::string> texts) {
    texts.insert(texts.begin(), {"<end>", "<think>"});
    return std::make_shared<const grammar::Pieces>(texts, std::vector<base::Token>{0});
}

inline std::shared_ptr<grammar::Constraint> constraint_of(std::string_view grammar,
                                                          std::vector<std::string> texts) {
    return std::make_shared<grammar::Constraint>(
        grammar::Constraint{.rules = rules_of(grammar), .pieces = pieces_of(std::move(texts))});
}

} // namespace test
