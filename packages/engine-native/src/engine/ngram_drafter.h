// Drafts from the text itself and from a prediction of the reply: proposes what followed when the latest tokens last occurred. That
// works well for replies that repeat their prompt or prediction (a summary, a file with a change), and rarely for others. How well is learned for each text, by comparing
// every draft with the tokens that came, whether the draft was computed or not. Pure.
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

/// The last occurrence of each three consecutive tokens in one text.
class NgramIndex {
public:
    /// The text follows `prediction`, as if it were its beginning.
    explicit NgramIndex(std::span<const base::Token> prediction = {})
        : text_(prediction.begin(), prediction.end()), predicted_(prediction.size()) {}

    /// More drafts than this would rarely all be accepted.
    static constexpr size_t kDraftsMax = 8;

    /// Takes the current text: learns how good the last drafts were, and drafts again.
    void observe(std::span<const base::Token> text);

    /// The tokens that followed when the latest tokens occurred before: kDraftsMax of them, or none.
    std::span<const base::Token> drafts() const { return drafts_; }

    /// How likely draft `i` is accepted if those before it are; 0 … 1.
    double chance(size_t i) const { return rates_[rate_of(i)].mean(); }

private:
    void follow(std::span<const base::Token> text);
    void learn_acceptance();
    void learn_text();
    void draft();
    uint32_t& end_of(size_t end);
    size_t rate_of(size_t draft) const;

    /// The prediction, of this many tokens, and the text as it was observed.
    std::vector<base::Token> text_;
    const size_t predicted_;

    /// Where each three consecutive tokens end: a hash table whose empty entries are 0. Its size is a power of two, at least
    /// twice the text's length.
    std::vector<uint32_t> ends_;
    /// Number of tokens of text_ that are in ends_, or were too few to be.
    size_t learned_ = 0;

    std::vector<base::Token> drafts_;
    /// Length of text_ that drafts_ continue, and how many of its last tokens match the earlier occurrence.
    size_t length_ = 0;
    size_t match_ = 0;
    /// Acceptance by the length of the match: the longer it is, the likelier the text continues in the same way.
    std::array<AcceptanceRate, 8> rates_;
};

class NgramDrafter final : public Drafter {
public:
    /// Whose replies are drafted.
    enum class Scope { every_request, requests_with_prediction };

    explicit NgramDrafter(Scope scope) : scope_(scope) {}

    bool takes_time() const override { return false; }
    void predict(base::RequestId id, std::span<const base::Token> prediction) override {
        indexes_.try_emplace(id, prediction);
    }
    bool is_idle() const override { return scope_ == Scope::requests_with_prediction && indexes_.empty(); }
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                 int32_t most) override;
    void forget(base::RequestId id) override { indexes_.erase(id); }

private:
    const Scope scope_;
    std::unordered_map<base::RequestId, NgramIndex> indexes_;
    std::vector<Draft> drafts_;
};

} // namespace engine
