// Where each three consecutive tokens of a text last occurred: what n-gram drafts are looked up in. Pure.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

class NgramTable {
public:
    /// Number of consecutive tokens that must have occurred before: two recur by chance.
    static constexpr size_t kMatchMin = 3;
    /// A longer match does not make a draft any likelier.
    static constexpr size_t kMatchMax = 10;

    /// An earlier occurrence of a text's last tokens: where it ends in text(), and how many tokens are equal.
    struct Match {
        size_t end = 0;
        /// 0 if there is none, otherwise kMatchMin … kMatchMax.
        size_t length = 0;
    };

    explicit NgramTable(std::span<const base::Token> text = {}) : text_(text.begin(), text.end()) {}

    std::span<const base::Token> text() const { return text_; }
    void append(std::span<const base::Token> tokens) {
        text_.insert(text_.end(), tokens.begin(), tokens.end());
    }

    /// Keeps `count` tokens from `first` on.
    void keep(size_t first, size_t count);

    /// Makes the first `length` tokens of the text known to find().
    void learn(size_t length);

    /// Where the last tokens of `tail` occurred last among those known.
    Match find(std::span<const base::Token> tail) const;

private:
    size_t place_of(std::span<const base::Token> tokens) const;

    std::vector<base::Token> text_;
    /// Where each three consecutive tokens end: a hash table whose empty entries are 0. Its size is a power of two, at least
    /// twice the number of tokens known.
    std::vector<uint32_t> ends_;
    /// Number of tokens that find() knows.
    size_t learned_ = 0;
};

} // namespace engine
