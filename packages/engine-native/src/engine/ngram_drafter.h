// Drafts from the text itself: what followed the last time that its latest tokens occurred. Replies that repeat their prompt (a
// summary, a file with a change) are drafted well, others rarely. How well is learned for each text, by comparing every draft
// with what came, whether the draft was computed or not. Pure.
#pragma once

#include "base/types.h"
#include "engine/drafter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

/// Where each three tokens in a row occurred last in one text.
class NgramIndex {
public:
    /// More drafts than these would rarely all be accepted.
    static constexpr size_t kDraftsMax = 8;

    /// Takes the text as it is known now: learns how good the last drafts were, and drafts again.
    void observe(std::span<const base::Token> text);

    /// The tokens that followed when the latest tokens occurred before: kDraftsMax of them, or none.
    std::span<const base::Token> drafts() const { return drafts_; }

    /// How likely draft `i` is accepted if those before it are; 0 … 1.
    double chance(size_t i) const { return rates_[rate_of(i)].mean(); }

private:
    void learn_acceptance(std::span<const base::Token> text);
    void learn_text(std::span<const base::Token> text);
    void draft(std::span<const base::Token> text);
    uint32_t& end_of(std::span<const base::Token> text, size_t end);
    size_t rate_of(size_t draft) const;

    /// Where each three tokens in a row end: a hash table whose empty places are 0. Its size is a power of two, at least twice
    /// the text's length.
    std::vector<uint32_t> ends_;
    /// Tokens of the text that are in ends_, or were too few.
    size_t learned_ = 0;

    std::vector<base::Token> drafts_;
    /// Length of the text that drafts_ follow, and how many of its last tokens match the earlier occurrence.
    size_t length_ = 0;
    size_t match_ = 0;
    /// By the length of the match: the longer, the likelier the text goes on alike.
    std::array<AcceptanceRate, 8> rates_;
};

class NgramDrafter final : public Drafter {
public:
    bool takes_time() const override { return false; }
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                 int32_t most) override;
    void forget(base::RequestId id) override { indexes_.erase(id); }

private:
    std::unordered_map<base::RequestId, NgramIndex> indexes_;
    std::vector<Draft> drafts_;
};

} // namespace engine
