#include "grammar/pieces.h"

#include "grammar/partial_character.h"

#include <algorithm>
#include <utility>

namespace grammar {

namespace {

enum class Kind { plain, other, continuation, invalid };

Kind kind_of(std::string_view text) {
    PartialCharacter character;
    if ((static_cast<unsigned char>(text.front()) & 0xC0) == 0x80) return Kind::continuation;
    bool is_plain = true;
    size_t characters = 0;
    for (const char byte : text) {
        if (character.missing() == 0) characters += 1;
        if (!character.add(static_cast<unsigned char>(byte))) return Kind::invalid;
        is_plain &= grammar::is_plain(character.first());
    }
    return is_plain && characters <= kPlainLongest ? Kind::plain : Kind::other;
}

} // namespace

Pieces::Pieces(const std::vector<std::string>& texts, std::vector<base::Token> ends)
    : ends_(std::move(ends)), with_text_(texts.size()) {
    std::ranges::sort(ends_);
    std::vector<TokenTrie::TokenText> plain;
    std::vector<TokenTrie::TokenText> others;
    begins_.reserve(texts.size() + 1);
    for (base::Token token = 0; token < static_cast<base::Token>(texts.size()); ++token) {
        begins_.push_back(static_cast<uint32_t>(bytes_.size()));
        const std::string& text = texts[static_cast<size_t>(token)];
        if (text.empty() || is_end(token)) continue;
        bytes_ += text;
        with_text_.add(token);
        const Kind kind = kind_of(text);
        if (kind == Kind::plain) plain.push_back({.token = token, .text = text});
        if (kind == Kind::other) others.push_back({.token = token, .text = text});
        if (kind == Kind::continuation) continuations_.push_back(token);
    }
    begins_.push_back(static_cast<uint32_t>(bytes_.size()));
    plain_ = TokenTrie(std::move(plain), texts.size());
    others_ = TokenTrie(std::move(others), texts.size());
}

std::string_view Pieces::text_of(base::Token token) const {
    const auto index = static_cast<size_t>(token);
    if (index >= size()) return {};
    return std::string_view(bytes_).substr(begins_[index], begins_[index + 1] - begins_[index]);
}

bool Pieces::is_end(base::Token token) const {
    return std::ranges::binary_search(ends_, token);
}

} // namespace grammar
