#include "sampling/penalties.h"

#include <algorithm>

namespace sampling {

namespace {

/// How far the penalties look back; 0 when they change nothing.
size_t window_of(const Sampling& sampling) {
    const bool is_off = sampling.repeat_penalty == 1.0F && sampling.presence_penalty == 0.0F &&
                        sampling.frequency_penalty == 0.0F;
    const bool is_missing = !sampling.order.contains('e');
    return is_off || is_missing ? 0 : static_cast<size_t>(std::max(sampling.repeat_last_n, 0));
}

} // namespace

Penalties::Penalties(int32_t vocabulary_size, const Sampling& sampling, std::span<const base::Token> prompt)
    : repeat_penalty_(sampling.repeat_penalty),
      presence_penalty_(sampling.presence_penalty),
      frequency_penalty_(sampling.frequency_penalty),
      window_(window_of(sampling)) {
    if (window_ == 0) return;
    // Reserve everything now, so that accepting a token never allocates.
    recent_.reserve(window_);
    counts_.reserve(std::min(window_ + 1, static_cast<size_t>(vocabulary_size)));
    for (const base::Token token : last_text_tokens(prompt, window_)) accept(token);
}

bool Penalties::only_lower() const {
    return repeat_penalty_ >= 1.0F && presence_penalty_ >= 0.0F && frequency_penalty_ >= 0.0F;
}

void Penalties::apply(Pool& pool) const {
    pool.adjust(counts_, [this](float logit, const Count& entry) {
        // Dividing a negative logit would make the token likelier.
        if (logit <= 0) logit *= repeat_penalty_;
        else logit /= repeat_penalty_;
        return logit - (static_cast<float>(entry.count) * frequency_penalty_ + presence_penalty_);
    });
}

void Penalties::accept(base::Token token) {
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
std::vector<Penalties::Count>::iterator Penalties::count_of(base::Token token) {
    return std::ranges::lower_bound(counts_, token, {}, &Count::token);
}

std::vector<base::Token> last_text_tokens(std::span<const base::Token> prompt, size_t most) {
    std::vector<base::Token> tokens;
    for (size_t first = prompt.size(); first > 0 && tokens.size() < most; --first)
        if (!base::is_image(prompt[first - 1])) tokens.push_back(prompt[first - 1]);
    std::ranges::reverse(tokens);
    return tokens;
}

} // namespace sampling
