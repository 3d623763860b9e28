// The tokens of one turn as llama.cpp reads them: words by their ids, images by the numbers that stand for them.
#pragma once

#include "base/types.h"
#include "llama/context/positions.h"

#include <cstdint>
#include <span>
#include <vector>

#include "llama.h"

namespace llama_rt {

class ImagePart;
class Vision;

/// Some tokens of one sequence, from number `first` on, and guesses of those after them; or some of an image's.
struct BatchPart {
    base::Slot slot;
    int32_t first;
    /// Of an image only how many there are matters.
    std::span<const base::Token> tokens;
    /// Logits are wanted for the last token, and for every guess.
    bool wants_logits;
    std::span<const base::Token> drafts = {};
    /// Of an image: what its tokens are computed from, those of all of it, and which is the first of these.
    const ImagePart* image = nullptr;
    const float* embedding = nullptr;
    int32_t offset = 0;
};

class Batch {
public:
    /// `vision` is null where the model reads no images.
    Batch(int32_t tokens_max, const Vision* vision);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    /// Lays these parts out, all of texts or all of images. `positions` says where their tokens stand, and is told of images.
    void fill(std::span<const BatchPart> parts, Positions& positions);

    /// For llama_decode(), until the next fill().
    llama_batch raw();

    bool has_images() const { return has_images_; }

    /// Index of a part's first logits; -1 when it wants none.
    int32_t logits_index(size_t part) const { return logits_index_[part]; }

private:
    void add_text(const BatchPart& part, const Positions& positions);
    void add_image(const BatchPart& part, Positions& positions);

    const int32_t tokens_max_;
    const Vision* vision_;
    llama_batch batch_;
    bool has_images_ = false;
    /// Of images, instead of batch_'s tokens and positions: numbers, and with M-RoPE four positions a token, all first ones
    /// before all second ones.
    std::vector<float> embeddings_;
    std::vector<llama_pos> image_positions_;
    std::vector<int32_t> logits_index_;
};

} // namespace llama_rt
