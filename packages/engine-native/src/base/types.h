// The identifiers that every layer shares.
//
// Images are among the tokens of a text. The model's vocabulary has no ids for images, so an image is a run of negative ids: the
// first token of image n is -2n, every other one -2n + 1. Equal images have equal numbers and so equal runs, and comparing texts
// compares their images too. The ids alone show where an image begins.
//
// A window of audio is such a run too: what is said of images, here and in the scheduler, applies to audio.
#pragma once

#include <cstdint>
#include <span>

namespace base {

/// A token's id in the model's vocabulary. Negative ids are images.
using Token = int32_t;

/// One of the context's sequences, 0 … sequences - 1: llama.cpp's `llama_seq_id`.
using Slot = int32_t;

inline constexpr Slot kNoSlot = -1;

/// Identifies a request for its whole life. Counts up from 1 and stays below 2^53, so that JavaScript can hold it as a
/// number.
using RequestId = uint64_t;

/// Identifies a saved recurrent state (sched/prefix_tree.h). Counts up from 1; 0 means none.
using CheckpointId = uint64_t;

/// Identifies a segment of the host KV tier (sched/host_tier.h). Counts up from 1; 0 means none.
using SegmentId = uint64_t;

/// Identifies the pixels of an image or of a tile of it, or the samples of a window of audio, as one projector sees them. Counts up from 1.
using ImageId = int32_t;

/// The largest id whose two tokens fit the type.
inline constexpr ImageId kImageIdMax = (1 << 30) - 1;

constexpr Token image_token(ImageId image, bool is_first) {
    return is_first ? -2 * image : -2 * image + 1;
}

constexpr bool is_image(Token token) {
    return token < 0;
}

/// Whether a token belongs to the same image as the token before it.
constexpr bool continues_image(Token token) {
    return token < 0 && token % 2 != 0;
}

constexpr ImageId image_of(Token token) {
    return -(token / 2) - token % 2; // does not overflow, even for the lowest token
}

/// Whether cutting a text here would cut an image.
constexpr bool is_inside_image(std::span<const Token> text, int32_t length) {
    return length < static_cast<int32_t>(text.size()) && continues_image(text[static_cast<size_t>(length)]);
}

/// The last place at or before `length` that is not inside an image.
constexpr int32_t last_edge(std::span<const Token> text, int32_t length) {
    while (is_inside_image(text, length)) --length;
    return length;
}

/// The first place at or after `length` that is not inside an image.
constexpr int32_t next_edge(std::span<const Token> text, int32_t length) {
    while (is_inside_image(text, length)) ++length;
    return length;
}

/// The end of the image, or of the run of text, that the token at `first` belongs to.
constexpr int32_t end_of_kind(std::span<const Token> text, int32_t first) {
    const auto size = static_cast<int32_t>(text.size());
    if (is_image(text[static_cast<size_t>(first)])) return next_edge(text, first + 1);
    int32_t end = first;
    while (end < size && !is_image(text[static_cast<size_t>(end)])) ++end;
    return end;
}

} // namespace base
