// The texts of all tokens of a vocabulary, also sorted: a grammar tests them in sorted order, so that each shared prefix is
// tested once. Built once per model, for its first grammar.
#pragma once

#include "base/types.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llama_rt {

class Pieces {
public:
    struct Entry {
        base::Token token;
        uint32_t begin;
        uint32_t length;
        /// Length of the prefix that it shares with the previous entry, in bytes.
        uint32_t shared;
    };

    /// `texts` by token, empty for a token without text. `ends` are the tokens that end a reply; their texts are ignored.
    Pieces(const std::vector<std::string>& texts, std::vector<base::Token> ends);

    /// In the order of their texts, without tokens that have none.
    const std::vector<Entry>& entries() const { return entries_; }
    std::string_view text(const Entry& entry) const {
        return std::string_view(bytes_).substr(entry.begin, entry.length);
    }

    /// Empty for a token without text.
    std::string_view text_of(base::Token token) const;
    const std::vector<base::Token>& ends() const { return ends_; }
    bool is_end(base::Token token) const;

private:
    std::string bytes_;
    std::vector<Entry> entries_;
    /// For each token, the index of its entry plus 1; 0 without an entry.
    std::vector<uint32_t> place_;
    /// Ascending.
    std::vector<base::Token> ends_;
};

} // namespace llama_rt
