#include "llama/context/batch.h"

#include "base/result.h"
#include "llama/vision/vision.h"

namespace llama {

namespace {

// What llama.cpp, with our patch, puts out for a token: nothing, its logits, or the likeliest tokens alone.
constexpr int8_t kNothing = 0;
constexpr int8_t kLogits = 1;
constexpr int8_t kLikeliest = 2;

int8_t output_of(bool likeliest_suffice) {
    return likeliest_suffice ? kLikeliest : kLogits;
}

} // namespace

Batch::Batch(int32_t tokens_max, const Vision* vision)
    : tokens_max_(tokens_max), vision_(vision), batch_(llama_batch_init(tokens_max, 0, 1)) {}

Batch::~Batch() {
    llama_batch_free(batch_);
}

void Batch::fill(std::span<const BatchPart> parts, Positions& positions) {
    int32_t tokens = 0;
    for (const BatchPart& part : parts)
        tokens += static_cast<int32_t>(part.tokens.size() + part.drafts.size());
    INGLE_ASSERT(tokens <= tokens_max_);
    has_images_ = parts.front().image != nullptr;
    has_whole_images_ = has_images_ && vision_->is_whole(*parts.front().image);
    if (has_images_) {
        embeddings_.clear();
        image_positions_.assign(static_cast<size_t>(tokens) * (vision_->has_mrope() ? 4 : 1), 0);
    }
    batch_.n_tokens = 0;
    token_index_.clear();
    logits_index_.assign(parts.size(), -1);
    for (size_t i = 0; i < parts.size(); ++i) {
        INGLE_ASSERT((parts[i].image != nullptr) == has_images_);
        INGLE_ASSERT(!has_images_ || vision_->is_whole(*parts[i].image) == has_whole_images_);
        token_index_.push_back(batch_.n_tokens);
        const int32_t last = batch_.n_tokens + static_cast<int32_t>(parts[i].tokens.size()) - 1;
        if (parts[i].wants_all_logits) logits_index_[i] = batch_.n_tokens;
        else if (parts[i].wants_logits) logits_index_[i] = last;
        if (has_images_) add_image(parts[i], positions);
        else add_text(parts[i], positions);
    }
}

llama_batch Batch::raw() {
    llama_batch batch = batch_;
    if (has_images_) {
        batch.token = nullptr;
        batch.embd = embeddings_.data();
        batch.pos = image_positions_.data();
    }
    return batch;
}

void Batch::add_text(const BatchPart& part, const Positions& positions) {
    const auto& [slot, first, tokens, wants_logits, drafts, given, image, embedding, offset, wants_all, few] =
        part;
    const int32_t position = given >= 0 ? given : positions.of(slot, first);
    for (size_t i = 0; i < tokens.size() + drafts.size(); ++i) {
        const int32_t at = batch_.n_tokens++;
        batch_.token[at] = i < tokens.size() ? tokens[i] : drafts[i - tokens.size()];
        batch_.pos[at] = position + static_cast<int32_t>(i);
        batch_.n_seq_id[at] = 1;
        batch_.seq_id[at][0] = slot;
        batch_.logits[at] = wants_all || (wants_logits && i + 1 >= tokens.size()) ? output_of(few) : kNothing;
    }
}

void Batch::add_image(const BatchPart& part, Positions& positions) {
    const auto width = static_cast<size_t>(vision_->embedding_size());
    const bool has_mrope = vision_->has_mrope();
    const size_t all = image_positions_.size() / (has_mrope ? 4 : 1);
    const float* numbers = part.embedding + static_cast<size_t>(part.offset) * width;
    embeddings_.insert(embeddings_.end(), numbers, numbers + part.tokens.size() * width);
    const int32_t begin = part.first - part.offset;
    const llama_pos position = positions.of(part.slot, begin);
    for (size_t i = 0; i < part.tokens.size(); ++i) {
        const auto at = static_cast<size_t>(batch_.n_tokens++);
        const size_t number = static_cast<size_t>(part.offset) + i;
        const auto [t, x, y, z] = part.image->position_of(number, position);
        image_positions_[at] = static_cast<llama_pos>(t);
        if (has_mrope) {
            image_positions_[all + at] = static_cast<llama_pos>(y);
            image_positions_[2 * all + at] = static_cast<llama_pos>(x);
            image_positions_[3 * all + at] = static_cast<llama_pos>(z);
        }
        batch_.n_seq_id[at] = 1;
        batch_.seq_id[at][0] = part.slot;
        batch_.logits[at] =
            part.wants_logits && i + 1 == part.tokens.size() ? output_of(part.likeliest_suffice) : kNothing;
    }
    if (part.image->positions() < part.image->tokens())
        positions.add(part.slot,
                      {.first = begin, .tokens = part.image->tokens(), .positions = part.image->positions()});
}

} // namespace llama
