#include "engine/ngram_drafter.h"

#include <algorithm>
#include <new>

namespace engine {

using base::Token;

void NgramIndex::observe(std::span<const Token> text) {
    follow(text);
    learn_acceptance();
    draft();
}

void NgramIndex::follow(std::span<const Token> text) {
    const size_t known = table_.text().size();
    // The text was cut, so all positions have moved.
    const bool is_cut = predicted_ + text.size() < known;
    if (is_cut) table_.keep(0, predicted_);
    // The first token that follows a prompt is generated before the first drafts.
    if (is_cut || known == predicted_) reply_ = predicted_ + text.size() - std::min<size_t>(text.size(), 1);
    table_.append(text.subspan(table_.text().size() - predicted_));
}

/// Up to the first rejected draft: those after it continued a different text.
void NgramIndex::learn_acceptance() {
    const auto text = table_.text();
    for (size_t i = 0; i < drafts_.size() && length_ + i < text.size(); ++i) {
        const bool is_accepted = text[length_ + i] == drafts_[i];
        rates_of_drafts().at(match_, i).observe(is_accepted);
        if (!is_accepted) return;
    }
}

void NgramIndex::draft() {
    const auto text = table_.text();
    drafts_.clear();
    length_ = text.size();
    if (text.empty()) return;
    table_.learn(text.size() - 1); // the very last tokens are looked up
    const NgramTable::Match own = table_.find(text);
    const NgramTable::Match earlier = history_ == nullptr ? NgramTable::Match{} : history_->find(text);
    is_from_history_ = earlier.length > own.length;
    const NgramTable::Match match = is_from_history_ ? earlier : own;
    if (match.length == 0) return;
    match_ = match.length;
    if (!is_from_history_) return draft_own(match.end);
    const auto followed = history_->after(match.end, kDraftsMax);
    drafts_.assign(followed.begin(), followed.end());
}

/// At the text's end this loops: the drafts themselves follow.
void NgramIndex::draft_own(size_t end) {
    const auto text = table_.text();
    drafts_.reserve(kDraftsMax);
    for (size_t i = 0; i < kDraftsMax; ++i) {
        const size_t at = end + i;
        drafts_.push_back(at < text.size() ? text[at] : drafts_[at - text.size()]);
    }
}

void NgramIndex::remember() {
    if (history_ != nullptr && !table_.text().empty())
        history_->add(table_.text().subspan(predicted_), reply_ - std::min(reply_, predicted_));
}

void NgramDrafter::begin(base::RequestId id, std::span<const Token> prediction,
                         std::optional<std::string_view> shared_with) {
    const bool has_history = shared_with && scope_ == Scope::every_request;
    if (scope_ == Scope::requests_with_prediction && prediction.empty()) return;
    indexes_.try_emplace(id, prediction, has_history ? history_of(*shared_with) : nullptr);
}

std::shared_ptr<ReplyHistory> NgramDrafter::history_of(std::string_view salt) {
    const auto found = std::ranges::find(histories_, salt, &SharedHistory::salt);
    if (found != histories_.end()) histories_.splice(histories_.begin(), histories_, found);
    else histories_.push_front({.salt = std::string(salt), .replies = std::make_shared<ReplyHistory>()});
    if (histories_.size() > kHistoriesMax) histories_.pop_back();
    return histories_.front().replies;
}

std::span<const Draft> NgramDrafter::draft(base::RequestId id, std::span<const Token> text, int32_t most) {
    drafts_.clear();
    try {
        const auto found = indexes_.find(id);
        if (found == indexes_.end()) return drafts_;
        NgramIndex& index = found->second;
        index.observe(text);
        const auto tokens = index.drafts();
        const size_t count = std::min(static_cast<size_t>(most), tokens.size());
        for (size_t i = 0; i < count; ++i) drafts_.push_back({.token = tokens[i], .chance = index.chance(i)});
    } catch (const std::bad_alloc&) {
        drafts_.clear(); // drafts are optional: the reply continues without them
    }
    return drafts_;
}

void NgramDrafter::forget(base::RequestId id) {
    const auto found = indexes_.find(id);
    if (found == indexes_.end()) return;
    try {
        found->second.remember();
    } catch (const std::bad_alloc&) { // then it is not drafted from
    }
    indexes_.erase(found);
}

} // namespace engine
