// Fills llama.cpp's batch for one step: text as token ids, images and audio as embeddings.
#pragma once

#include "base/types.h"
#include "llama/context/positions.h"

#include <cstdint>
#include <span>
#include <vector>

#include "llama.h"

namespace llama {

class ImagePart;
class Vision;

/// Tokens of one sequence, from index `first` on, and drafts for those after them; or some of an image's tokens.
struct BatchPart {
    base::Slot slot;
    int32_t first;
    /// For an image, only the number of these matters.
    std::span<const base::Token> tokens;
    /// Whether to compute logits for the last token and for every draft.
    bool wants_logits;
    std::span<const base::Token> drafts = {};
    /// Position of the first token; -1 if it follows from `first`.
    int32_t position = -1;
    /// For an image: the image, the embeddings of all its tokens, and the index in it of this part's first token.
    const ImagePart* image = nullptr;
    const float* embedding = nullptr;
    int32_t offset = 0;
    /// Whether to compute logits for every token; not for an image.
    bool wants_all_logits = false;
    /// Whether the likeliest tokens are enough where logits are wanted, if the context selects them.
    bool likeliest_suffice = false;
};

class Batch {
public:
    /// `vision` is null if the model has no image input.
    Batch(int32_t tokens_max, const Vision* vision);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// Fills the batch with these parts: all text, or all images of one kind (Vision::is_whole). Reads the tokens' positions from `positions` and adds images
    /// to it.
    void fill(std::span<const BatchPart> parts, Positions& positions);

    /// The batch for llama_decode(); valid until the next fill().
    llama_batch raw();

    /// Whether the batch has images whose tokens attend to each other.
    bool has_whole_images() const { return has_whole_images_; }

    /// Index of a part's first token.
    int32_t token_index(size_t part) const { return token_index_[part]; }

    /// Index of a part's first token with logits; -1 if it wants none.
    int32_t logits_index(size_t part) const { return logits_index_[part]; }

private:
    void add_text(const BatchPart& part, const Positions& positions);
    void add_image(const BatchPart& part, Positions& positions);

    const int32_t tokens_max_;
    const Vision* vision_;
    llama_batch batch_;
    bool has_images_ = false;
    bool has_whole_images_ = false;
    /// For images, these replace batch_'s tokens and positions. With M-RoPE a token has four positions: the first ones of all
    /// tokens, then the second ones, and so on.
    std::vector<float> embeddings_;
    std::vector<llama_pos> image_positions_;
    std::vector<int32_t> token_index_;
    std::vector<int32_t> logits_index_;
};

} // namespace llama
