// llama.cpp by itself, for tests that compare the engine's texts with those it generates alone: a context with exact arithmetic,
// and the likeliest token with its text.
#pragma once

#include "base/types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "llama-cpp.h"

namespace test {

/// One thread, with a KV cache in 32 bits.
inline llama_context_params exact_context(int32_t tokens) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(tokens);
    params.n_threads = params.n_threads_batch = 1;
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    return params;
}

inline const llama_vocab* vocab_of(const llama_context* context) {
    return llama_model_get_vocab(llama_get_model(context));
}

/// The likeliest token after the last batch.
inline base::Token likeliest(llama_context* context) {
    const std::span logits(llama_get_logits_ith(context, -1),
                           static_cast<size_t>(llama_vocab_n_tokens(vocab_of(context))));
    return static_cast<base::Token>(std::ranges::max_element(logits) - logits.begin());
}

inline std::string piece_of(const llama_context* context, base::Token token) {
    std::string piece(64, '\0');
    const int32_t length = llama_token_to_piece(vocab_of(context), token, piece.data(),
                                                static_cast<int32_t>(piece.size()), 0, false);
    return piece.substr(0, static_cast<size_t>(std::max(length, 0)));
}

} // namespace test
