#include "engine/chain_drafter.h"

#include <algorithm>

namespace engine {

using base::Token;
using llama::Decoded;
using llama::DraftLogits;

bool ChainDrafter::read(const Text& text, std::span<const Token> next, std::span<const float> states) {
    context().encode(states, states_);
    if (states_.empty()) return false;
    const llama::DraftPart part{.place = text.place, .first = text.first, .tokens = next, .states = states_};
    return context().decode({&part, 1}, DraftLogits::none) == Decoded::ok;
}

bool ChainDrafter::guess(std::span<Text* const> texts, int32_t most) {
    guessing_.assign(texts.begin(), texts.end());
    if (!encode_rest(texts)) return false;
    for (int32_t drafts = 0; drafts < most && !guessing_.empty(); ++drafts) {
        if (!guess_next()) return false;
    }
    return true;
}

/// The first parts: each token that the model computed, with the one after it.
bool ChainDrafter::encode_rest(std::span<Text* const> texts) {
    inputs_.clear();
    tokens_.clear();
    for (const Text* text : texts) {
        inputs_.insert(inputs_.end(), text->states.begin(), text->states.end());
        tokens_.insert(tokens_.end(), text->tokens.begin() + 1, text->tokens.end());
        tokens_.push_back(text->last);
    }
    context().encode(inputs_, states_);
    parts_.clear();
    size_t begin = 0;
    for (const Text* text : texts) {
        if (states_.empty()) return false;
        const size_t count = text->tokens.size();
        const size_t width = context().state_size();
        parts_.push_back({.place = text->place,
                          .first = text->first,
                          .tokens = std::span(tokens_).subspan(begin, count),
                          .states = std::span(states_).subspan(begin * width, count * width)});
        begin += count;
    }
    return true;
}

/// Computes the parts, guesses the next token of each text, and makes the next parts. Texts without a likely token leave guessing_. False
/// if it fails.
bool ChainDrafter::guess_next() {
    if (context().decode(parts_, DraftLogits::last) != Decoded::ok) return false;
    const std::vector<Text*> guessed = std::exchange(guessing_, {});
    const size_t width = context().state_size();
    std::vector<int32_t> ends;
    for (const auto& part : parts_) ends.push_back(part.first + static_cast<int32_t>(part.tokens.size()));
    parts_.clear();
    // Room for all of them before the parts point to it.
    tokens_.resize(std::max(tokens_.size(), guessed.size()));
    states_.resize(std::max(states_.size(), guessed.size() * width));
    for (size_t i = 0; i < guessed.size(); ++i) {
        Text& text = *guessed[i];
        text.held = ends[i];
        const float* state = context().state(i);
        if (!add_guess(text, context().logits(i)) || state == nullptr) return false;
        if (!text.guesses.back().is_likely()) continue;
        const size_t at = guessing_.size();
        tokens_[at] = text.guesses.back().draft.token;
        std::copy_n(state, width, states_.begin() + static_cast<std::ptrdiff_t>(at * width));
        parts_.push_back({.place = text.place,
                          .first = text.held,
                          .tokens = std::span(tokens_).subspan(at, 1),
                          .states = std::span(states_).subspan(at * width, width)});
        guessing_.push_back(&text);
    }
    return true;
}

} // namespace engine
