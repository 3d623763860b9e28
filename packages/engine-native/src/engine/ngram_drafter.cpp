#include "engine/ngram_drafter.h"

#include <algorithm>
#include <bit>
#include <new>

namespace engine {

using base::Token;

namespace {

/// Number of consecutive tokens that must have occurred before: two recur by chance.
constexpr size_t kMatchMin = 3;
/// A longer match does not make a draft any likelier.
constexpr size_t kMatchMax = 10;

constexpr size_t kEndsMin = 1024;

/// Multiplying by it spreads a number over all bits.
constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

} // namespace

void NgramIndex::observe(std::span<const Token> text) {
    follow(text);
    learn_acceptance();
    draft();
}

void NgramIndex::follow(std::span<const Token> text) {
    // The text was cut, so all positions have moved.
    if (predicted_ + text.size() < text_.size()) {
        text_.resize(predicted_);
        std::ranges::fill(ends_, 0);
        learned_ = 0;
    }
    const auto added = text.subspan(text_.size() - predicted_);
    text_.insert(text_.end(), added.begin(), added.end());
}

/// Up to the first rejected draft: those after it continued a different text.
void NgramIndex::learn_acceptance() {
    for (size_t i = 0; i < drafts_.size() && length_ + i < text_.size(); ++i) {
        const bool is_accepted = text_[length_ + i] == drafts_[i];
        rates_[rate_of(i)].observe(is_accepted);
        if (!is_accepted) return;
    }
}

/// Records where each three consecutive tokens end, except the very last ones, which must be looked up first.
void NgramIndex::learn_text() {
    if (ends_.size() < 2 * text_.size()) {
        ends_.assign(std::max(kEndsMin, 2 * std::bit_ceil(text_.size())), 0);
        learned_ = 0;
    }
    for (size_t end = std::max(learned_ + 1, kMatchMin); end < text_.size(); ++end)
        end_of(end) = static_cast<uint32_t>(end);
    learned_ = text_.size() - 1;
}

void NgramIndex::draft() {
    drafts_.clear();
    match_ = 0;
    length_ = text_.size();
    if (text_.size() <= kMatchMin) return;
    learn_text();
    const size_t end = end_of(text_.size());
    const auto before = std::span(text_).subspan(end - std::min(end, kMatchMax), std::min(end, kMatchMax));
    const auto [_, differs] = std::mismatch(text_.rbegin(), text_.rend(), before.rbegin(), before.rend());
    match_ = static_cast<size_t>(differs - before.rbegin());
    if (match_ < kMatchMin) return;
    drafts_.reserve(kDraftsMax);
    // At the text's end this loops: the drafts themselves follow.
    for (size_t i = 0; i < kDraftsMax; ++i) {
        const size_t at = end + i;
        drafts_.push_back(at < text_.size() ? text_[at] : drafts_[at - text_.size()]);
    }
}

/// The index in ends_ of the three tokens that end at `end`: their entry, or the empty entry for them.
uint32_t& NgramIndex::end_of(size_t end) {
    const auto tokens = std::span(text_).subspan(end - kMatchMin, kMatchMin);
    uint64_t hash = 0;
    for (const Token token : tokens) hash = (hash + static_cast<uint64_t>(token)) * kGoldenRatio;
    for (size_t at = static_cast<size_t>(hash >> 32);; ++at) {
        uint32_t& place = ends_[at & (ends_.size() - 1)];
        if (place == 0 || std::ranges::equal(std::span(text_).subspan(place - kMatchMin, kMatchMin), tokens))
            return place;
    }
}

size_t NgramIndex::rate_of(size_t draft) const {
    return std::min(match_ - kMatchMin + draft, rates_.size() - 1);
}

std::span<const Draft> NgramDrafter::draft(base::RequestId id, std::span<const Token> text, int32_t most) {
    drafts_.clear();
    try {
        auto found = indexes_.find(id);
        if (found == indexes_.end()) {
            if (scope_ == Scope::requests_with_prediction) return drafts_;
            found = indexes_.try_emplace(id).first;
        }
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

} // namespace engine
