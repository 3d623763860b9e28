#include "engine/ngram_drafter.h"

#include <algorithm>
#include <bit>

namespace engine {

using base::Token;

namespace {

/// Tokens in a row that must have stood before: two do by chance.
constexpr size_t kMatchMin = 3;
/// More than these make a guess no likelier.
constexpr size_t kMatchMax = 10;

constexpr size_t kEndsMin = 1024;

/// Spreads what it is multiplied with over all bits.
constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

} // namespace

void NgramDrafter::observe(std::span<const Token> text) {
    // Cut at its beginning: all places have moved. One may even be this text's end, behind which there is nothing yet.
    if (text.size() <= learned_) {
        std::ranges::fill(ends_, 0);
        learned_ = 0;
    }
    judge(text);
    guess(text);
}

/// Up to the first wrong guess: those behind it followed another text.
void NgramDrafter::judge(std::span<const Token> text) {
    for (size_t i = 0; i < guesses_.size() && length_ + i < text.size(); ++i) {
        const bool is_right = text[length_ + i] == guesses_[i];
        rates_[rate_of(i)].observe(is_right);
        if (!is_right) return;
    }
}

/// Of each three tokens in a row, where they end; but for the very last, which have to be looked up first.
void NgramDrafter::learn(std::span<const Token> text) {
    if (ends_.size() < 2 * text.size()) {
        ends_.assign(std::max(kEndsMin, 2 * std::bit_ceil(text.size())), 0);
        learned_ = 0;
    }
    for (size_t end = std::max(learned_ + 1, kMatchMin); end < text.size(); ++end)
        end_of(text, end) = static_cast<uint32_t>(end);
    learned_ = text.size() - 1;
}

void NgramDrafter::guess(std::span<const Token> text) {
    guesses_.clear();
    match_ = 0;
    length_ = text.size();
    if (text.size() <= kMatchMin) return;
    learn(text);
    const size_t end = end_of(text, text.size());
    const auto before = text.subspan(end - std::min(end, kMatchMax), std::min(end, kMatchMax));
    const auto [_, differs] = std::mismatch(text.rbegin(), text.rend(), before.rbegin(), before.rend());
    match_ = static_cast<size_t>(differs - before.rbegin());
    if (match_ < kMatchMin) return;
    guesses_.reserve(kGuessesMax);
    // Where the text's end is reached, it is a loop: then the guesses themselves go on.
    for (size_t i = 0; i < kGuessesMax; ++i) {
        const size_t at = end + i;
        guesses_.push_back(at < text.size() ? text[at] : guesses_[at - text.size()]);
    }
}

/// The place in ends_ of the three tokens that end here: theirs, or the empty one where it would be.
uint32_t& NgramDrafter::end_of(std::span<const Token> text, size_t end) {
    const auto tokens = text.subspan(end - kMatchMin, kMatchMin);
    uint64_t hash = 0;
    for (const Token token : tokens) hash = (hash + static_cast<uint64_t>(token)) * kGoldenRatio;
    for (size_t at = static_cast<size_t>(hash >> 32);; ++at) {
        uint32_t& place = ends_[at & (ends_.size() - 1)];
        if (place == 0 || std::ranges::equal(text.subspan(place - kMatchMin, kMatchMin), tokens))
            return place;
    }
}

size_t NgramDrafter::rate_of(size_t guess) const {
    return std::min(match_ - kMatchMin + guess, rates_.size() - 1);
}

} // namespace engine
