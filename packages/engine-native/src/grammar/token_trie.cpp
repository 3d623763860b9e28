#include "grammar/token_trie.h"

#include "grammar/partial_character.h"

#include <algorithm>
#include <utility>

namespace grammar {

namespace {

/// A text's first eight bytes as a number, which orders most texts without a look at them.
uint64_t head_of(std::string_view text) {
    uint64_t head = 0;
    for (size_t i = 0; i < 8; ++i)
        head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    return head;
}

void sort_by_bytes(std::vector<TokenTrie::TokenText>& texts) {
    struct Key {
        uint64_t head;
        size_t at;
    };
    std::vector<Key> keys;
    keys.reserve(texts.size());
    for (const auto& each : texts) keys.push_back({.head = head_of(each.text), .at = keys.size()});
    std::ranges::sort(keys, [&](const Key& one, const Key& other) {
        if (one.head != other.head) return one.head < other.head;
        return texts[one.at].text < texts[other.at].text;
    });
    std::vector<TokenTrie::TokenText> sorted;
    sorted.reserve(texts.size());
    for (const Key& key : keys) sorted.push_back(texts[key.at]);
    texts = std::move(sorted);
}

} // namespace

TokenTrie::TokenTrie(std::vector<TokenText> texts, size_t size) : all_(size) {
    sort_by_bytes(texts);
    size_t bytes = 1;
    for (const TokenText& each : texts) bytes += each.text.size();
    nodes_.reserve(bytes); // most of which is never touched
    tokens_.reserve(texts.size());
    std::string_view before;
    for (const auto& [token, text] : texts) {
        open(text, static_cast<size_t>(std::ranges::mismatch(text, before).in1 - text.begin()));
        tokens_.push_back(token);
        all_.add(token);
        before = text;
    }
    close(0);
    nodes_.push_back(node_of({}, 0));
    nodes_.shrink_to_fit();
}

TokenTrie::Node TokenTrie::node_of(const PartialCharacter& character, uint32_t depth) const {
    return {.first = character.first() & 0x1F'FFFF,
            .missing = static_cast<uint32_t>(character.missing()) & 0x7,
            .height = 0,
            .depth = depth,
            .end = 0,
            .tokens = static_cast<uint32_t>(tokens_.size())};
}

/// Adds the nodes of a text behind those that it shares with the last one.
void TokenTrie::open(std::string_view text, size_t shared) {
    close(shared);
    size_t whole = shared;
    while (whole > 0 && nodes_[open_[whole - 1]].missing > 0) whole -= 1;
    uint32_t depth = whole == 0 ? 0 : nodes_[open_[whole - 1]].depth + 1;
    PartialCharacter character;
    for (size_t i = whole; i < text.size(); ++i) {
        character.add(static_cast<unsigned char>(text[i]));
        if (i >= shared) {
            open_.push_back(static_cast<uint32_t>(nodes_.size()));
            nodes_.push_back(node_of(character, depth));
        }
        if (character.missing() == 0) depth += 1;
    }
    levels_ = std::max<size_t>(levels_, depth + 1);
}

/// Ends the nodes behind the first `bytes` bytes of the last text.
void TokenTrie::close(size_t bytes) {
    while (open_.size() > bytes) {
        Node& node = nodes_[open_.back()];
        open_.pop_back();
        node.end = static_cast<uint32_t>(nodes_.size());
        // A character counts once, where it is whole or its text ends.
        uint32_t height = node.missing > 0 ? std::max<uint32_t>(node.height, 1) : node.height + 1;
        if (!is_plain(node.first)) height = kNotPlain;
        height = std::min(height, kNotPlain);
        if (open_.empty()) height_ = std::max(height_, height);
        else if (Node& above = nodes_[open_.back()]; above.height < height) above.height = height & 0xFF;
    }
}

} // namespace grammar
