// The latest replies of requests that share them (Drafter::begin()): a new reply often repeats one of them, because it answers the same
// question again, or fills in the same form. Bounded memory. Pure.
#pragma once

#include "base/types.h"
#include "engine/drafter.h"
#include "engine/ngram_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace engine {

/// How often n-gram drafts are accepted, by the length of the match and the number of drafts before: the longer the match, the
/// likelier the text continues in the same way.
class NgramRates {
public:
    AcceptanceRate& at(size_t match, size_t draft) { return rates_[index_of(match, draft)]; }
    const AcceptanceRate& at(size_t match, size_t draft) const { return rates_[index_of(match, draft)]; }

private:
    size_t index_of(size_t match, size_t draft) const {
        return std::min(match - NgramTable::kMatchMin + draft, rates_.size() - 1);
    }

    std::array<AcceptanceRate, 8> rates_;
};

class ReplyHistory {
public:
    /// Number of tokens kept, with their table less than a megabyte. When they are used up, the older half goes.
    static constexpr size_t kTokensMax = 65'536;
    /// Of a longer reply, only its end is kept.
    static constexpr size_t kReplyMax = kTokensMax / 4;
    /// So many tokens before a reply are kept with it: they say what it replied to.
    static constexpr size_t kLead = NgramTable::kMatchMax;

    /// Adds the end of `text`, which is a reply from token `reply` on. Too short a one says nothing.
    void add(std::span<const base::Token> text, size_t reply) {
        if (text.size() < reply + NgramTable::kMatchMin) return;
        const size_t count = std::min(text.size() - reply + std::min(reply, kLead), kReplyMax);
        const size_t size = table_.text().size();
        if (size + count + 1 > kTokensMax) table_.keep(size - size / 2, size / 2);
        table_.append(text.last(count));
        table_.append(std::span(&kEnd, 1));
        table_.learn(table_.text().size());
    }

    NgramTable::Match find(std::span<const base::Token> tail) const { return table_.find(tail); }
    /// The tokens from `begin` to the end of a reply, at most `most`.
    std::span<const base::Token> after(size_t begin, size_t most) const {
        const auto tokens = table_.text().subspan(begin, std::min(most, size() - begin));
        return tokens.first(
            static_cast<size_t>(std::ranges::find_if(tokens, base::is_image) - tokens.begin()));
    }

    /// Number of tokens kept, at most kTokensMax.
    size_t size() const { return table_.text().size(); }

    /// Of drafts from the history, in all replies together.
    NgramRates& rates() { return rates_; }

private:
    /// Between two replies: no text goes on from one to the next.
    static constexpr base::Token kEnd = -1;
    static_assert(base::is_image(kEnd));

    NgramTable table_;
    NgramRates rates_;
};

} // namespace engine
