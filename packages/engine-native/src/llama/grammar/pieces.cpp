#include "llama/grammar/pieces.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace llama_rt {

Pieces::Pieces(const std::vector<std::string>& texts, std::vector<base::Token> ends)
    : place_(texts.size()), ends_(std::move(ends)) {
    std::ranges::sort(ends_);
    std::vector<base::Token> order;
    for (base::Token token = 0; token < static_cast<base::Token>(texts.size()); ++token) {
        if (!texts[static_cast<size_t>(token)].empty() && !is_end(token)) order.push_back(token);
    }
    const auto text_of_token = [&](base::Token token) -> const std::string& {
        return texts[static_cast<size_t>(token)];
    };
    std::ranges::stable_sort(order, {}, text_of_token);
    std::string_view before;
    for (const base::Token token : order) {
        const std::string_view text = text_of_token(token);
        const auto shared = std::ranges::mismatch(text, before).in1 - text.begin();
        entries_.push_back({.token = token,
                            .begin = static_cast<uint32_t>(bytes_.size()),
                            .length = static_cast<uint32_t>(text.size()),
                            .shared = static_cast<uint32_t>(shared)});
        place_[static_cast<size_t>(token)] = static_cast<uint32_t>(entries_.size());
        bytes_ += text;
        before = text;
    }
}

std::string_view Pieces::text_of(base::Token token) const {
    const auto index = static_cast<size_t>(token);
    if (index >= place_.size() || place_[index] == 0) return {};
    return text(entries_[place_[index] - 1]);
}

bool Pieces::is_end(base::Token token) const {
    return std::ranges::binary_search(ends_, token);
}

} // namespace llama_rt
