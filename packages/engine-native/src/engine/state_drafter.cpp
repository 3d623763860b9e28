#include "engine/state_drafter.h"

#include "engine/events.h"

#include <algorithm>
#include <new>
#include <utility>

namespace engine {

using base::Token;

StateDrafter::StateDrafter(std::unique_ptr<llama::DraftContext> context, Follows follows,
                           const Limits& limits)
    : context_(std::move(context)),
      follows_(follows),
      drafts_max_(limits.drafts_max),
      texts_max_(limits.texts_max),
      vocabulary_size_(limits.vocabulary_size) {
    for (int32_t place = limits.sequences - 1; place >= 0; --place) free_places_.push_back(place);
}

void StateDrafter::follow(base::RequestId id, int32_t first, std::span<const Token> tokens,
                          std::span<const float* const> states) {
    try {
        Text* text = text_of(id, first);
        if (text == nullptr) return;
        text->tokens.insert(text->tokens.end(), tokens.begin(), tokens.end());
        const size_t width = context_->input_size() * tokens.size() / states.size();
        for (const float* state : states) text->states.insert(text->states.end(), state, state + width);
        // What a step generates is read together with other texts'; more than that is a prompt.
        if (std::ssize(text->tokens) <= drafts_max_ + 1) return;
        const Clock::time_point begin = Clock::now();
        if (!read_all_but_last(*text)) return give_up();
        reading_ms_ += milliseconds(begin);
    } catch (const std::bad_alloc&) {
        forget(id); // drafts are optional: the reply continues without them
    }
}

/// The text that these tokens continue, or begin. Null if every place is taken: by requests that were preempted.
StateDrafter::Text* StateDrafter::text_of(base::RequestId id, int32_t first) {
    const auto found = texts_.find(id);
    if (found != texts_.end()) {
        Text& text = found->second;
        if (text.first + std::ssize(text.tokens) == first) return &text;
        forget(id);
    }
    if (free_places_.empty()) return nullptr;
    const int32_t place = free_places_.back();
    free_places_.pop_back();
    return &texts_.emplace(id, Text{.place = place, .first = first}).first->second;
}

/// The last token stays, because the one after it is not known yet.
bool StateDrafter::read_all_but_last(Text& text) {
    if (!trim(text)) return false;
    const std::span<const Token> tokens(text.tokens);
    const std::span<const float> states(text.states);
    const size_t width = context_->input_size();
    const size_t count = tokens.size() - 1;
    for (size_t done = 0; done < count;) {
        const size_t size = std::min(count - done, context_->tokens_max());
        if (!read(text, tokens.subspan(done + 1, size), states.subspan(done * width, size * width)))
            return false;
        done += size;
        text.first += static_cast<int32_t>(size);
        text.held = text.first;
    }
    text.tokens.erase(text.tokens.begin(), text.tokens.end() - 1);
    text.states.erase(text.states.begin(), text.states.end() - static_cast<std::ptrdiff_t>(width));
    return true;
}

/// Takes the last drafts back.
bool StateDrafter::trim(Text& text) {
    if (text.held <= text.first) return true;
    text.held = text.first;
    return context_->remove(text.place, text.first);
}

void StateDrafter::prepare(std::span<const sched::DecodingText> texts, int32_t most) {
    const Clock::time_point begin = Clock::now();
    cost_ = {.reading_ms = std::exchange(reading_ms_, 0)};
    asked_.clear();
    for (const sched::DecodingText& known : texts) {
        const auto found = texts_.find(known.id);
        if (found == texts_.end()) continue;
        Text& text = found->second;
        const auto guessed = static_cast<size_t>(text.length);
        if (!text.guesses.empty() && guessed < known.tokens.size())
            likeliest_.observe(text.guesses, known.tokens.subspan(guessed));
        text.guesses.clear();
        text.length = static_cast<int32_t>(known.tokens.size());
        text.last = known.tokens.back();
        const bool is_followed = text.first + std::ssize(text.tokens) == text.length - 1;
        if (text.tokens.empty() || !is_followed) continue;
        if (!trim(text)) return give_up();
        asked_.push_back(&text);
    }
    if (asked_.empty()) return;
    if (!guess(asked_, std::min(most, drafts_max_))) return give_up();
    for (Text* text : asked_) {
        text->tokens.clear();
        text->states.clear();
        text->first = text->length - 1;
        if (!drafts_at_once())
            cost_.drafts = std::max(cost_.drafts, static_cast<int32_t>(text->guesses.size()));
    }
    cost_.drafting_ms = milliseconds(begin);
}

bool StateDrafter::add_guess(Text& text, const float* logits) {
    // A GPU computes after decode() has returned: only reading the results shows that it failed.
    if (logits == nullptr) return false;
    text.guesses.push_back(likeliest_.find({logits, static_cast<size_t>(vocabulary_size_)}));
    return true;
}

std::span<const Draft> StateDrafter::draft(base::RequestId id, std::span<const Token> tokens, int32_t most) {
    drafts_.clear();
    const auto found = texts_.find(id);
    if (found == texts_.end() || found->second.length != std::ssize(tokens)) return {};
    for (const Guess& guess : found->second.guesses) {
        if (!guess.is_likely() || std::ssize(drafts_) >= most) break;
        drafts_.push_back(guess.draft);
    }
    return drafts_;
}

void StateDrafter::forget(base::RequestId id) {
    const auto found = texts_.find(id);
    if (found == texts_.end()) return;
    const int32_t place = found->second.place;
    texts_.erase(found);
    free_places_.push_back(place);
    if (!context_->remove(place, 0)) give_up();
}

/// After a failure, the context's contents are unknown: every text begins again.
void StateDrafter::give_up() {
    context_->clear();
    for (const auto& [id, text] : std::exchange(texts_, {})) free_places_.push_back(text.place);
    asked_.clear();
}

} // namespace engine
