// Compares the vocabularies of a model and of one that drafts for it.
#include "llama/model/model.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace llama {

namespace {

/// Vocabularies of one family may differ by the padding to a round number.
constexpr int32_t kPaddingMax = 128;

/// Tokens below this are special ones, which files of one family spell differently.
constexpr int32_t kFirstCompared = 5;

std::unexpected<base::Error> differ(const std::string& how) {
    return base::fail(base::Code::invalid_argument,
                      "The draft model does not fit this model, because their vocabularies differ: " + how +
                          ". Choose a smaller model of the same family.");
}

} // namespace

base::Result<int32_t> common_vocabulary(const Model& target, const Model& draft) {
    const llama_vocab* own = target.vocab();
    const llama_vocab* other = draft.vocab();
    if (llama_vocab_type(own) != llama_vocab_type(other)) return differ("they have different types");
    const int32_t size = llama_vocab_n_tokens(own);
    const int32_t size_other = llama_vocab_n_tokens(other);
    if (std::abs(size - size_other) > kPaddingMax)
        return differ(std::to_string(size) + " tokens and " + std::to_string(size_other));
    if (llama_vocab_bos(own) != llama_vocab_bos(other) || llama_vocab_eos(own) != llama_vocab_eos(other))
        return differ("their beginning or end tokens are different");
    const int32_t common = std::min(size, size_other);
    for (int32_t token = kFirstCompared; token < common; ++token) {
        const std::string_view text = llama_vocab_get_text(own, token);
        const std::string_view text_other = llama_vocab_get_text(other, token);
        if (text == text_other) continue;
        return differ("token " + std::to_string(token) + " is \"" + std::string(text) + "\" and \"" +
                      std::string(text_other) + "\"");
    }
    return common;
}

} // namespace llama
