// A text of two writers: a chat template, and the messages and tools that it was rendered with.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "llama.h"

namespace llama {

/// The first byte of a part and the one after its last.
using MarkedPart = std::pair<size_t, size_t>;

struct MarkedText {
    std::string_view text;
    /// The parts that come from messages, tools and arguments, ascending. Control tokens are not recognized in them.
    std::span<const MarkedPart> content = {};
    /// Further special tokens that are not recognized there (Model::markup_tokens()), ascending.
    std::span<const base::Token> markup = {};
};

/// The user-defined tokens that a chat template writes as markup, ascending. Others, such as indentations, are text like any other.
std::vector<base::Token> markup_in(const llama_vocab* vocab, std::string_view source);

/// `content` as llama.cpp takes it: must outlive what input() returns.
class TextInput {
public:
    explicit TextInput(const MarkedText& marked) : markup_(marked.markup) {
        bounds_.reserve(2 * marked.content.size());
        for (const auto& [first, end] : marked.content) bounds_.insert(bounds_.end(), {first, end});
    }

    llama_text_input input() const {
        return {.bounds = bounds_.data(),
                .n_bounds = bounds_.size(),
                .tokens = markup_.data(),
                .n_tokens = markup_.size()};
    }

private:
    std::vector<size_t> bounds_;
    std::span<const base::Token> markup_;
};

} // namespace llama
