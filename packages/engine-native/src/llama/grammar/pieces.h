// The texts of all tokens of a vocabulary, also in the order of these texts: which of them a grammar allows is found by
// going through them like through a dictionary, a common beginning once. Built once a model, at the first grammar.
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
        /// Bytes that it has in common with the entry before.
        uint32_t shared;
    };

    /// `texts` by token, empty where a token has none. `ends` are the tokens that end a reply; their texts do not count.
    Pieces(const std::vector<std::string>& texts, std::vector<base::Token> ends);

    /// By text; tokens without one are left out.
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
    /// For each token the place of its entry and 1 more; 0 without.
    std::vector<uint32_t> place_;
    /// Ascending.
    std::vector<base::Token> ends_;
};

} // namespace llama_rt
