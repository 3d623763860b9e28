// A set of tokens of a vocabulary, one bit for each.
#pragma once

#include "base/types.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace grammar {

class TokenSet {
public:
    /// An empty set of tokens below `size`.
    explicit TokenSet(size_t size = 0) : words_((size + kBits - 1) / kBits), size_(size) {}

    /// Empties the set, for tokens below `size`.
    void reset(size_t size) {
        words_.assign((size + kBits - 1) / kBits, 0);
        size_ = size;
    }

    /// REQUIRES: the token is below the size.
    void add(base::Token token) { words_[index(token) / kBits] |= bit(token); }
    void remove(base::Token token) { words_[index(token) / kBits] &= ~bit(token); }

    /// Adds all tokens of a set of the same size.
    void add(const TokenSet& other) {
        for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    }

    /// Any token, also one that is no token of the vocabulary.
    bool has(base::Token token) const {
        return token >= 0 && index(token) < size_ && (words_[index(token) / kBits] & bit(token)) != 0;
    }

    size_t size() const { return size_; }

    /// Calls visit(token) for each, in ascending order.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (size_t i = 0; i < words_.size(); ++i) {
            for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
                visit(static_cast<base::Token>(i * kBits + static_cast<size_t>(std::countr_zero(rest))));
        }
    }

    bool operator==(const TokenSet&) const = default;

private:
    static constexpr size_t kBits = 64;

    static size_t index(base::Token token) { return static_cast<size_t>(token); }
    static uint64_t bit(base::Token token) { return uint64_t{1} << (index(token) % kBits); }

    std::vector<uint64_t> words_;
    size_t size_;
};

} // namespace grammar
