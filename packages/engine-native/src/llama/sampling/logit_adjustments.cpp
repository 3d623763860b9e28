#include "llama/sampling/logit_adjustments.h"

#include "base/result.h"
#include "base/types.h"
#include "llama/sampling/sampler.h"

#include <algorithm>
#include <ranges>

namespace llama_rt {

namespace {

/// How far the penalties look back; 0 when they change nothing.
size_t window_of(const Sampling& sampling) {
    const bool is_off = sampling.repeat_penalty == 1.0F && sampling.presence_penalty == 0.0F &&
                        sampling.frequency_penalty == 0.0F;
    return is_off ? 0 : static_cast<size_t>(std::max(sampling.repeat_last_n, 0));
}

} // namespace

Adjustments::Adjustments(int32_t vocabulary_size, const Sampling& sampling,
                         std::span<const base::Token> prompt)
    : biases_(sampling.logit_bias),
      repeat_penalty_(sampling.repeat_penalty),
      presence_penalty_(sampling.presence_penalty),
      frequency_penalty_(sampling.frequency_penalty),
      window_(window_of(sampling)) {
    std::erase_if(biases_, [vocabulary_size](const llama_logit_bias& bias) {
        return bias.token < 0 || bias.token >= vocabulary_size;
    });
    // Reserve everything now, so that sampling a token never allocates.
    const size_t counts_max = std::min(window_ + 1, static_cast<size_t>(vocabulary_size));
    recent_.reserve(window_);
    if (window_ > 0) counts_.reserve(counts_max);
    originals_.reserve(biases_.size() + counts_.capacity());
    size_t first = prompt.size();
    for (size_t words = 0; first > 0 && words < window_; --first)
        if (!base::is_image(prompt[first - 1])) ++words;
    for (const base::Token token : prompt.subspan(first))
        if (!base::is_image(token)) accept(token);
}

void Adjustments::apply(std::span<float> logits) {
    INGLE_ASSERT(originals_.empty());
    for (const auto& [token, bias] : biases_) changed(logits, token) += bias;
    for (const auto& [token, count] : counts_) {
        float& logit = changed(logits, token);
        // Dividing a negative logit would make the token likelier.
        if (logit <= 0) logit *= repeat_penalty_;
        else logit /= repeat_penalty_;
        logit -= static_cast<float>(count) * frequency_penalty_ + presence_penalty_;
    }
}

/// The token's logit, to be changed; its original is kept for undo().
float& Adjustments::changed(std::span<float> logits, base::Token token) {
    const auto index = static_cast<size_t>(token);
    INGLE_ASSERT(index < logits.size());
    originals_.push_back({.token = token, .logit = logits[index]});
    return logits[index];
}

void Adjustments::undo(std::span<float> logits) {
    // In reverse, so that a token that was changed twice gets its first value back.
    for (const auto& [token, logit] : originals_ | std::views::reverse)
        logits[static_cast<size_t>(token)] = logit;
    originals_.clear();
}

void Adjustments::accept(base::Token token) {
    if (window_ == 0) return;
    const auto found = count_of(token);
    if (found != counts_.end() && found->token == token) found->count += 1;
    else counts_.insert(found, {.token = token, .count = 1});
    if (recent_.size() < window_) {
        recent_.push_back(token);
        return;
    }
    const auto leaving = count_of(recent_[oldest_]);
    leaving->count -= 1;
    if (leaving->count == 0) counts_.erase(leaving);
    recent_[oldest_] = token;
    oldest_ = (oldest_ + 1) % window_;
}

/// The token's count, or where to insert it.
std::vector<Adjustments::Count>::iterator Adjustments::count_of(base::Token token) {
    return std::ranges::lower_bound(counts_, token, {}, &Count::token);
}

} // namespace llama_rt
