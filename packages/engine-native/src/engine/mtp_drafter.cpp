#include "engine/mtp_drafter.h"

#include "engine/events.h"

#include <algorithm>
#include <new>
#include <utility>

namespace engine {

using base::Token;

MtpDrafter::MtpDrafter(std::unique_ptr<llama_rt::MtpContext> context, int32_t sequences,
                       int32_t vocabulary_size)
    : context_(std::move(context)), vocabulary_size_(vocabulary_size) {
    for (int32_t place = sequences - 1; place >= 0; --place) free_places_.push_back(place);
}

void MtpDrafter::follow(base::RequestId id, int32_t first, std::span<const Token> tokens,
                        std::span<const float* const> states) {
    try {
        Text* text = text_of(id, first, tokens.size());
        if (text == nullptr) return;
        if (text->length == first) likeliest_.observe(text->guesses, tokens);
        text->guesses.clear();
        text->tokens.insert(text->tokens.end(), tokens.begin(), tokens.end());
        for (const float* state : states)
            text->states.insert(text->states.end(), state, state + context_->state_size());
    } catch (const std::bad_alloc&) {
        forget(id); // drafts are optional: the reply continues without them
    }
}

/// The text that these tokens continue, or begin. Null if they are too many, or if every place is taken: by requests that were preempted.
MtpDrafter::Text* MtpDrafter::text_of(base::RequestId id, int32_t first, size_t count) {
    const auto found = texts_.find(id);
    if (found != texts_.end()) {
        Text& text = found->second;
        const bool continues = text.first + std::ssize(text.tokens) == first;
        if (continues && text.tokens.size() + count <= llama_rt::MtpContext::kTextTokensMax) return &text;
        forget(id);
    }
    if (free_places_.empty() || count > llama_rt::MtpContext::kTextTokensMax) return nullptr;
    const int32_t place = free_places_.back();
    free_places_.pop_back();
    return &texts_.emplace(id, Text{.place = place, .first = first}).first->second;
}

void MtpDrafter::prepare(std::span<const sched::DecodingText> texts, int32_t most) {
    const Clock::time_point begin = Clock::now();
    cost_ = {};
    guessing_.clear();
    for (const sched::DecodingText& text : texts) {
        const auto found = texts_.find(text.id);
        if (found == texts_.end() || found->second.tokens.empty()) continue;
        Text& followed = found->second;
        if (followed.computed > followed.first && !context_->remove(followed.place, followed.first))
            return give_up();
        followed.length = followed.first + static_cast<int32_t>(followed.tokens.size());
        guessing_.push_back(&followed);
    }
    if (guessing_.empty()) return;
    for (cost_.drafts = 0; cost_.drafts < most && !guessing_.empty(); ++cost_.drafts) {
        if (!guess_next()) return give_up();
    }
    for (Text* text : guessing_) {
        text->tokens.clear();
        text->states.clear();
    }
    cost_.drafting_ms = milliseconds(begin);
}

/// Computes what is known of the texts, and guesses the next token of each. Texts without a likely one leave guessing_. False if it
/// fails.
bool MtpDrafter::guess_next() {
    parts_.clear();
    for (const Text* text : guessing_) {
        const auto guessed = static_cast<int32_t>(text->guesses.size());
        parts_.push_back({.place = text->place,
                          .first = guessed == 0 ? text->first : text->length + guessed - 1,
                          .tokens = text->tokens,
                          .states = text->states.data()});
    }
    if (context_->decode(parts_) != llama_rt::Decoded::ok) return false;
    for (size_t i = 0; i < guessing_.size(); ++i) {
        Text& text = *guessing_[i];
        // A GPU computes after decode() has returned: only reading the results shows that it failed.
        const float* logits = context_->logits(i);
        const float* state = context_->state(i);
        if (logits == nullptr || state == nullptr) return false;
        const Guess guess = likeliest_.find({logits, static_cast<size_t>(vocabulary_size_)});
        text.guesses.push_back(guess);
        text.computed = parts_[i].first + static_cast<int32_t>(text.tokens.size());
        text.first = text.length;
        text.tokens.clear();
        text.states.clear();
        if (!guess.is_likely()) continue;
        text.tokens.push_back(guess.draft.token);
        text.states.assign(state, state + context_->state_size());
    }
    std::erase_if(guessing_, [](const Text* text) { return text->tokens.empty(); });
    return true;
}

std::span<const Draft> MtpDrafter::draft(base::RequestId id, std::span<const Token> tokens, int32_t most) {
    drafts_.clear();
    const auto found = texts_.find(id);
    if (found == texts_.end() || found->second.length != std::ssize(tokens)) return {};
    for (const Guess& guess : found->second.guesses) {
        if (!guess.is_likely() || std::ssize(drafts_) >= most) break;
        drafts_.push_back(guess.draft);
    }
    return drafts_;
}

void MtpDrafter::forget(base::RequestId id) {
    const auto found = texts_.find(id);
    if (found == texts_.end()) return;
    const int32_t place = found->second.place;
    texts_.erase(found);
    free_places_.push_back(place);
    if (!context_->remove(place, 0)) give_up();
}

/// After a failure, the context's contents are unknown: every text begins again.
void MtpDrafter::give_up() {
    context_->clear();
    for (const auto& [id, text] : std::exchange(texts_, {})) free_places_.push_back(text.place);
    guessing_.clear();
}

} // namespace engine
