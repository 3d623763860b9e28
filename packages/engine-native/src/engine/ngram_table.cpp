#include "engine/ngram_table.h"

#include <algorithm>
#include <bit>

namespace engine {

using base::Token;

namespace {

constexpr size_t kEndsMin = 1024;

/// Multiplying by it spreads a number over all bits.
constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

} // namespace

void NgramTable::keep(size_t first, size_t count) {
    text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(first));
    text_.resize(count);
    std::ranges::fill(ends_, 0);
    learned_ = 0;
}

void NgramTable::learn(size_t length) {
    if (ends_.size() < 2 * length) {
        ends_.assign(std::max(kEndsMin, 2 * std::bit_ceil(length)), 0);
        learned_ = 0;
    }
    for (size_t end = std::max(learned_ + 1, kMatchMin); end <= length; ++end)
        ends_[place_of(std::span(text_).subspan(end - kMatchMin, kMatchMin))] = static_cast<uint32_t>(end);
    learned_ = length;
}

NgramTable::Match NgramTable::find(std::span<const Token> tail) const {
    if (ends_.empty() || tail.size() < kMatchMin) return {};
    const size_t end = ends_[place_of(tail.last(kMatchMin))];
    const size_t compared = std::min(end, kMatchMax);
    const auto before = std::span(text_).subspan(end - compared, compared);
    const auto [_, differs] = std::mismatch(tail.rbegin(), tail.rend(), before.rbegin(), before.rend());
    const auto length = static_cast<size_t>(differs - before.rbegin());
    return length < kMatchMin ? Match{} : Match{.end = end, .length = length};
}

/// The index in ends_ of these three tokens: their entry, or the empty entry for them.
size_t NgramTable::place_of(std::span<const Token> tokens) const {
    uint64_t hash = 0;
    for (const Token token : tokens) hash = (hash + static_cast<uint64_t>(token)) * kGoldenRatio;
    for (auto at = static_cast<size_t>(hash >> 32);; ++at) {
        const size_t place = at & (ends_.size() - 1);
        const uint32_t end = ends_[place];
        if (end == 0 || std::ranges::equal(std::span(text_).subspan(end - kMatchMin, kMatchMin), tokens))
            return place;
    }
}

} // namespace engine
