#include "engine/text_stream.h"

#include <algorithm>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Character {
    /// Length of a well-formed character, or of the maximal ill-formed part.
    size_t length;
    enum class Kind { valid, invalid, incomplete } kind;
};

struct Lead {
    size_t length;
    unsigned char second_min;
    unsigned char second_max;
};

/// What may follow a first byte, by table 3-7 of the Unicode standard. Length 0: no character begins with this byte.
Lead lead_of(unsigned char byte) {
    if (byte < 0x80) return {1, 0, 0};
    if (byte < 0xC2) return {0, 0, 0};
    if (byte < 0xE0) return {2, 0x80, 0xBF};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};
    if (byte == 0xED) return {3, 0x80, 0x9F};
    if (byte < 0xF0) return {3, 0x80, 0xBF};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte < 0xF4) return {4, 0x80, 0xBF};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

Character first_character(std::string_view bytes) {
    using enum Character::Kind;
    const Lead lead = lead_of(static_cast<unsigned char>(bytes.front()));
    if (lead.length == 0) return {1, invalid};
    for (size_t i = 1; i < lead.length; ++i) {
        if (i == bytes.size()) return {i, incomplete};
        const auto byte = static_cast<unsigned char>(bytes[i]);
        const unsigned char min = i == 1 ? lead.second_min : 0x80;
        const unsigned char max = i == 1 ? lead.second_max : 0xBF;
        if (byte < min || byte > max) return {i, invalid};
    }
    return {lead.length, valid};
}

/// Length of the longest suffix of `text` that is a prefix of `stop`.
size_t partial_match(std::string_view text, std::string_view stop) {
    for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
        if (text.ends_with(stop.substr(0, length))) return length;
    }
    return 0;
}

} // namespace

size_t complete_utf8_length(std::string_view bytes) {
    // Only the last three bytes can begin an incomplete character.
    for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); ++back) {
        const size_t start = bytes.size() - back;
        const auto byte = static_cast<unsigned char>(bytes[start]);
        if ((byte & 0xC0) == 0x80) continue; // a continuation byte
        const Character last = first_character(bytes.substr(start));
        return last.kind == Character::Kind::incomplete ? start : bytes.size();
    }
    return bytes.size();
}

void append_valid_utf8(std::string_view bytes, std::string& text) {
    while (!bytes.empty()) {
        const Character character = first_character(bytes);
        if (character.kind == Character::Kind::valid) text.append(bytes.substr(0, character.length));
        else text.append(kReplacement);
        bytes.remove_prefix(character.length);
    }
}

TextStream::TextStream(std::vector<std::string> stops)
    : stops_([&] {
          std::erase(stops, std::string());
          return std::move(stops);
      }()) {
    for (const std::string& stop : stops_) lookback_ = std::max(lookback_, stop.size() - 1);
}

bool TextStream::push(std::string_view bytes, std::string& text) {
    const size_t before = held_.size();
    held_.append(bytes);
    const size_t from = before > lookback_ ? before - lookback_ : 0;
    // The stop string that is completed first ends the text; of several that end at the same place, the longest. So the result
    // does not depend on how tokens split the text.
    size_t first = std::string::npos;
    size_t end = std::string::npos;
    const std::string* ending = nullptr;
    for (const std::string& stop : stops_) {
        const size_t found = held_.find(stop, from);
        if (found == std::string::npos) continue;
        const size_t found_end = found + stop.size();
        if (found_end > end || (found_end == end && found > first)) continue;
        first = found;
        end = found_end;
        ending = &stop;
    }
    if (ending != nullptr) {
        release(first, text);
        held_.clear();
        stop_ = *ending;
        return true;
    }
    release(safe_length(), text);
    return false;
}

void TextStream::pass(std::string_view bytes, std::string& text) {
    held_.append(bytes);
    release(complete_utf8_length(held_), text);
}

void TextStream::finish(std::string& text) {
    release(held_.size(), text);
}

size_t TextStream::safe_length() const {
    size_t partial = 0;
    for (const std::string& stop : stops_) partial = std::max(partial, partial_match(held_, stop));
    return complete_utf8_length(std::string_view(held_).substr(0, held_.size() - partial));
}

void TextStream::release(size_t length, std::string& text) {
    append_valid_utf8(std::string_view(held_).substr(0, length), text);
    held_.erase(0, length);
}

} // namespace engine
