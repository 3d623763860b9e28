#include "engine/generation.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

/// Room kept for generated tokens from the start, so that adding one seldom allocates.
constexpr int32_t kTokensAheadMax = 4096;

double milliseconds(Clock::time_point from, Clock::time_point to) {
    if (from == Clock::time_point{} || to < from) return 0;
    return std::chrono::duration<double, std::milli>(to - from).count();
}

} // namespace

Generation::Generation(const llama_rt::Model& model, GenerationRequest request)
    : model_(model),
      request_(std::move(request)),
      sampler_(model, request_.sampling, request_.ignore_eos, request_.prompt),
      stream_(request_.stops),
      tokens_(request_.prompt) {
    tokens_.reserve(tokens_.size() + static_cast<size_t>(std::min(request_.generate_max, kTokensAheadMax)));
}

void Generation::start(Clock::time_point now) {
    if (started_ == Clock::time_point{}) started_ = now;
}

bool Generation::sample(const float* logits, llama_rt::Candidates& candidates, Clock::time_point now) {
    const base::Token token = sampler_.sample(logits, candidates);
    if (generated_ == 0) first_token_ = now;
    generated_ += 1;
    text_tokens_ += 1;
    tokens_.push_back(token);
    if (model_.is_end_of_generation(token)) {
        stream_.finish(text_);
        return true;
    }
    piece_.clear();
    model_.append_piece(token, piece_);
    if (stream_.push(piece_, text_)) return true;
    if (generated_ < request_.generate_max) return false;
    reason_ = FinishReason::length;
    stream_.finish(text_);
    return true;
}

TextEvent Generation::take_text() {
    TextEvent event{.id = request_.id, .text = {}, .tokens = text_tokens_};
    if (text_.empty()) return event;
    event.text.swap(text_);
    text_tokens_ = 0;
    return event;
}

FinishEvent Generation::finish(Clock::time_point now) const {
    return record(reason_, now);
}

FinishEvent Generation::cancelled(Clock::time_point now) const {
    return record(FinishReason::cancelled, now);
}

FinishEvent Generation::record(FinishReason reason, Clock::time_point now) const {
    const bool has_token = generated_ > 0;
    return {.id = request_.id,
            .reason = reason,
            .prompt_tokens = static_cast<int32_t>(request_.prompt.size()),
            .cached_tokens = 0,
            .completion_tokens = generated_,
            .queue_ms = milliseconds(request_.submitted, started_ == Clock::time_point{} ? now : started_),
            .prompt_ms = milliseconds(started_, has_token ? first_token_ : now),
            .predicted_ms = has_token ? milliseconds(first_token_, now) : 0};
}

} // namespace engine
