// The texts of all tokens of a vocabulary, also as trees for the search of all tokens that a grammar allows. Built once per model, for
// its first grammar.
#pragma once

#include "base/types.h"
#include "grammar/token_set.h"
#include "grammar/token_trie.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace grammar {

class Pieces {
public:
    /// `texts` by token, empty for a token without text. `ends` are the tokens that end a reply; their texts are ignored.
    Pieces(const std::vector<std::string>& texts, std::vector<base::Token> ends);

    /// Empty for a token without text.
    std::string_view text_of(base::Token token) const;
    const std::vector<base::Token>& ends() const { return ends_; }
    bool is_end(base::Token token) const;

    /// Number of tokens in the vocabulary.
    size_t size() const { return with_text_.size(); }
    /// All tokens with text. A token whose text has no place in UTF-8 is in none of the others.
    const TokenSet& with_text() const { return with_text_; }
    /// Tokens of at most kPlainLongest characters, all plain.
    const TokenTrie& plain() const { return plain_; }
    /// The other tokens that begin with a character.
    const TokenTrie& others() const { return others_; }
    /// Tokens that begin inside a character.
    const std::vector<base::Token>& continuations() const { return continuations_; }

private:
    std::string bytes_;
    /// For each token, where its text begins in `bytes_`; then where the last one ends.
    std::vector<uint32_t> begins_;
    /// Ascending.
    std::vector<base::Token> ends_;
    TokenSet with_text_;
    std::vector<base::Token> continuations_;
    TokenTrie plain_;
    TokenTrie others_;
};

} // namespace grammar
