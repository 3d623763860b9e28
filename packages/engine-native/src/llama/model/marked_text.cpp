#include "llama/model/marked_text.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace llama {

using base::Token;

namespace {

/// The longest markup in bytes, brackets included; known ones have 30.
constexpr size_t kMarkupBytesMax = 64;

/// Whether a text has brackets around it, as <think> and [TOOL_CALLS] have.
bool is_markup(std::string_view text) {
    constexpr std::string_view kOpening = "<[{";
    constexpr std::string_view kClosing = ">]}";
    return text.size() > 2 && text.size() <= kMarkupBytesMax && kOpening.contains(text.front()) &&
           kClosing.contains(text.back());
}

} // namespace

std::vector<Token> markup_in(const llama_vocab* vocab, std::string_view source) {
    std::unordered_map<std::string_view, Token> known;
    for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
        const std::string_view text = llama_vocab_get_text(vocab, token);
        const bool is_user_defined =
            (llama_vocab_get_attr(vocab, token) & LLAMA_TOKEN_ATTR_USER_DEFINED) != 0;
        if (is_user_defined && is_markup(text)) known.emplace(text, token);
    }
    std::set<Token> found;
    for (size_t first = 0; first < source.size() && !known.empty(); ++first) {
        const size_t most = std::min(kMarkupBytesMax, source.size() - first);
        for (size_t size = 3; size <= most; ++size) {
            const std::string_view text = source.substr(first, size);
            if (!is_markup(text)) continue;
            if (const auto token = known.find(text); token != known.end()) found.insert(token->second);
        }
    }
    return {found.begin(), found.end()};
}

} // namespace llama
