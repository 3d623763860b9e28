#include "sampling/dry.h"

#include "sampling/penalties.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sampling {

namespace {

/// Natural logarithm of the largest float.
constexpr float kFloatMaxLog = 88.7228391F;
/// Below this base, penalties do not grow noticeably.
constexpr float kGrowingBase = 1.000001F;

} // namespace

Dry::Dry(const DryOptions& options, std::span<const base::Token> prompt, AppendPiece append_piece)
    : options_(options), append_piece_(std::move(append_piece)) {
    for (const std::string& breaker : options_.breakers) lookback_ = std::max(lookback_, breaker.size());
    if (lookback_ > 0) --lookback_;
    text_ = last_text_tokens(prompt, static_cast<size_t>(options_.last_n));
    begin(text_);
}

/// Finds where the last breaker of the prompt ends.
void Dry::begin(std::span<const base::Token> prompt) {
    since_breaker_ = static_cast<int32_t>(prompt.size());
    if (append_piece_ == nullptr || options_.breakers.empty()) return;
    std::string bytes;
    std::vector<size_t> ends;
    for (const base::Token token : prompt) {
        append_piece_(token, bytes);
        ends.push_back(bytes.size());
    }
    size_t last_end = 0;
    for (const std::string& breaker : options_.breakers) {
        const size_t at = bytes.rfind(breaker);
        if (at != std::string::npos) last_end = std::max(last_end, at + breaker.size());
    }
    if (last_end > 0) {
        const auto completing = std::ranges::lower_bound(ends, last_end);
        since_breaker_ = static_cast<int32_t>(std::distance(completing, ends.end())) - 1;
    }
    tail_ = bytes.substr(bytes.size() - std::min(bytes.size(), lookback_));
}

void Dry::accept(base::Token token) {
    is_found_ = false;
    const auto window = static_cast<size_t>(options_.last_n);
    if (text_.size() >= 2 * window) text_.erase(text_.begin(), text_.end() - options_.last_n);
    text_.push_back(token);
    since_breaker_ += 1;
    if (append_piece_ == nullptr || options_.breakers.empty()) return;
    const size_t before = tail_.size();
    append_piece_(token, tail_);
    for (const std::string& breaker : options_.breakers) {
        // A breaker that ends in the new bytes begins at most its length before them.
        const size_t from = before - std::min(before, breaker.size() - 1);
        if (tail_.find(breaker, from) != std::string::npos) since_breaker_ = 0;
    }
    tail_.erase(0, tail_.size() - std::min(tail_.size(), lookback_));
}

void Dry::apply(Pool& pool) {
    if (!is_found_) find_penalties();
    is_found_ = true;
    pool.adjust(penalties_, [](float logit, const Penalty& penalty) { return logit - penalty.amount; });
}

void Dry::find_penalties() {
    penalties_.clear();
    const size_t length = std::min(text_.size(), static_cast<size_t>(options_.last_n));
    const std::span<const base::Token> text = std::span(text_).last(length);
    const int32_t longest = std::min(since_breaker_, static_cast<int32_t>(length));
    if (std::ssize(text) <= options_.allowed_length || longest < options_.allowed_length) return;
    find_repetitions(text, longest);
    std::erase_if(penalties_, [this](const Penalty& penalty) { return is_breaker(penalty.token); });
    // Above this exponent, the power would overflow; 0 for none.
    const int max_exponent =
        options_.base > kGrowingBase ? static_cast<int>(kFloatMaxLog / std::log(options_.base)) : 0;
    for (Penalty& penalty : penalties_) {
        int exponent = penalty.length - options_.allowed_length;
        if (max_exponent > 0) exponent = std::min(exponent, max_exponent);
        penalty.amount = static_cast<float>(static_cast<double>(options_.multiplier) *
                                            std::pow(static_cast<double>(options_.base), exponent));
    }
}

/// Sets `penalties_` to the tokens that stand after a repetition of the text's end, each with the longest one, up to `longest`.
/// The Z-algorithm over the reversed text: linear time.
void Dry::find_repetitions(std::span<const base::Token> text, int32_t longest) {
    const auto length = static_cast<int32_t>(text.size());
    const auto from_end = [&](int32_t i) { return text[static_cast<size_t>(length - 1 - i)]; };
    // How many of the tokens that end k before the text's end are the same as the text's last ones.
    repeated_.assign(text.size(), 0);
    int32_t left = 0;
    int32_t right = 0;
    for (int32_t k = 1; k < length; ++k) {
        int32_t same = 0;
        if (k < right) same = std::min(repeated_[static_cast<size_t>(k - left)], right - k);
        while (k + same < length && from_end(same) == from_end(k + same)) ++same;
        if (k + same > right) {
            left = k;
            right = k + same;
        }
        repeated_[static_cast<size_t>(k)] = same;
    }
    for (int32_t k = 1; k < length; ++k) {
        const int32_t same = std::min(repeated_[static_cast<size_t>(k)], longest);
        if (same >= options_.allowed_length)
            penalties_.push_back({.token = from_end(k - 1), .length = same, .amount = 0});
    }
    // By token, the longest first.
    std::ranges::sort(penalties_, [](const Penalty& a, const Penalty& b) {
        return a.token != b.token ? a.token < b.token : a.length > b.length;
    });
    const auto again = std::ranges::unique(penalties_, {}, &Penalty::token);
    penalties_.erase(again.begin(), again.end());
}

/// Whether the token's own text has a breaker.
bool Dry::is_breaker(base::Token token) {
    if (append_piece_ == nullptr) return false;
    piece_.clear();
    append_piece_(token, piece_);
    return std::ranges::any_of(options_.breakers,
                               [this](const std::string& breaker) { return piece_.contains(breaker); });
}

} // namespace sampling
