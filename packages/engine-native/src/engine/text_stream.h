// Turns the bytes of sampled tokens into text that can be shown: only whole UTF-8 characters, and nothing that is or may still
// become a stop string. Bytes that can never become a character are replaced by U+FFFD, as decoders do. One per generation;
// independent of llama.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

class TextStream {
public:
    /// Empty stops are ignored.
    explicit TextStream(std::vector<std::string> stops);

    /// Takes a token's bytes and appends to `text` what can be shown now. True if a stop string is complete: it and everything
    /// after it are dropped, and nothing more may be pushed.
    [[nodiscard]] bool push(std::string_view bytes, std::string& text);

    /// The same, but no stop string begins or ends in these bytes.
    void pass(std::string_view bytes, std::string& text);

    /// The generation ended without a stop string: appends what was held back.
    void finish(std::string& text);

    /// The stop string that ended the text; empty if none did.
    const std::string& stop() const { return stop_; }

private:
    /// Number of the held bytes that can be shown.
    size_t safe_length() const;
    void release(size_t length, std::string& text);

    const std::vector<std::string> stops_;
    /// Length of the longest stop string minus one: no earlier byte can be part of a match that ends with the next byte.
    size_t lookback_ = 0;
    std::string held_;
    std::string stop_;
};

/// Length of the longest prefix of `bytes` that ends between characters: it excludes an incomplete character at the end, but
/// includes bytes that can never be part of one.
size_t complete_utf8_length(std::string_view bytes);

/// Appends `bytes` with every ill-formed sequence replaced by U+FFFD (maximal subparts, Unicode 15 section 3.9).
void append_valid_utf8(std::string_view bytes, std::string& text);

} // namespace engine
