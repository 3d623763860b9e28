// Drafts from a text itself, from a prediction of the reply, and from earlier replies: proposes what followed when the latest tokens
// last occurred. That works well for replies that repeat their prompt, their prediction or another reply (a summary, a file with a
// change, a form that is filled in), and rarely for others. How well is learned for each text, by comparing every draft with the tokens
// that came, whether the draft was computed or not. Pure.
#pragma once

#include "base/types.h"
#include "engine/drafter.h"
#include "engine/ngram_table.h"
#include "engine/reply_history.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

/// The n-grams of one text.
class NgramIndex {
public:
    /// The text follows `prediction`, as if it were its beginning. `history` is null if there are no earlier replies to draft from.
    explicit NgramIndex(std::span<const base::Token> prediction = {},
                        std::shared_ptr<ReplyHistory> history = nullptr)
        : table_(prediction), predicted_(prediction.size()), history_(std::move(history)) {}

    /// More drafts than this would rarely all be accepted.
    static constexpr size_t kDraftsMax = 16;

    /// Takes the current text: learns how good the last drafts were, and drafts again.
    void observe(std::span<const base::Token> text);

    /// The tokens that followed when the latest tokens occurred before: up to kDraftsMax.
    std::span<const base::Token> drafts() const { return drafts_; }

    /// How likely draft `i` is accepted if those before it are; 0 … 1.
    double chance(size_t i) const { return rates_of_drafts().at(match_, i).mean(); }

    /// Adds what was generated since the first observe(), or since the text was cut, to the history.
    void remember();

private:
    void follow(std::span<const base::Token> text);
    void learn_acceptance();
    void draft();
    void draft_own(size_t end);
    const NgramRates& rates_of_drafts() const { return is_from_history_ ? history_->rates() : rates_; }
    NgramRates& rates_of_drafts() { return is_from_history_ ? history_->rates() : rates_; }

    /// The prediction, of this many tokens, and the text as it was observed.
    NgramTable table_;
    const size_t predicted_;
    const std::shared_ptr<ReplyHistory> history_;
    /// Index in table_'s text of the first token known to be generated.
    size_t reply_ = 0;

    std::vector<base::Token> drafts_;
    /// Number of tokens in table_'s text that drafts_ continue, and how many of its last tokens match the earlier occurrence.
    size_t length_ = 0;
    size_t match_ = NgramTable::kMatchMin;
    bool is_from_history_ = false;
    NgramRates rates_;
};

class NgramDrafter final : public Drafter {
public:
    /// Whose replies are drafted, and whether earlier replies are drafted from.
    enum class Scope { every_request, requests_with_prediction };

    /// How many salts have replies to draft from; those of the one that was used longest ago are forgotten.
    static constexpr size_t kHistoriesMax = 16;

    explicit NgramDrafter(Scope scope) : scope_(scope) {}

    void begin(base::RequestId id, std::span<const base::Token> prediction,
               std::optional<std::string_view> shared_with) override;
    bool is_idle() const override { return scope_ == Scope::requests_with_prediction && indexes_.empty(); }
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                 int32_t most) override;
    void forget(base::RequestId id) override;

private:
    struct SharedHistory {
        std::string salt;
        std::shared_ptr<ReplyHistory> replies;
    };

    std::shared_ptr<ReplyHistory> history_of(std::string_view salt);

    const Scope scope_;
    /// The one that was used last comes first.
    std::list<SharedHistory> histories_;
    std::unordered_map<base::RequestId, NgramIndex> indexes_;
    std::vector<Draft> drafts_;
};

} // namespace engine
