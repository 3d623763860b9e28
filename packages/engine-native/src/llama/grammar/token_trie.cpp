#include "llama/grammar/token_trie.h"

#include "llama/grammar/partial_character.h"

#include <algorithm>

namespace llama_rt {

TokenTrie::TokenTrie(std::vector<TokenText> texts, size_t size) : all_(size) {
    std::ranges::stable_sort(texts, {}, &TokenText::text);
    std::string_view before;
    for (const auto& [token, text] : texts) {
        const auto shared = static_cast<size_t>(std::ranges::mismatch(text, before).in1 - text.begin());
        close(shared);
        PartialCharacter character;
        uint32_t depth = 0;
        for (size_t i = 0; i < text.size(); ++i) {
            character.add(static_cast<unsigned char>(text[i]));
            if (i >= shared) {
                open_.push_back(static_cast<uint32_t>(nodes_.size()));
                nodes_.push_back({.first = character.first(),
                                  .missing = static_cast<uint32_t>(character.missing()),
                                  .height = 0,
                                  .depth = depth,
                                  .end = 0,
                                  .tokens = static_cast<uint32_t>(tokens_.size())});
            }
            if (character.missing() == 0) depth += 1;
        }
        levels_ = std::max<size_t>(levels_, depth + 1);
        tokens_.push_back(token);
        all_.add(token);
        before = text;
    }
    close(0);
    nodes_.push_back({.first = 0,
                      .missing = 0,
                      .height = 0,
                      .depth = 0,
                      .end = 0,
                      .tokens = static_cast<uint32_t>(tokens_.size())});
    nodes_.shrink_to_fit();
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
        else nodes_[open_.back()].height = std::max<uint32_t>(nodes_[open_.back()].height, height);
    }
}

} // namespace llama_rt
