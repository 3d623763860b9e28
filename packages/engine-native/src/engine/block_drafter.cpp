#include "engine/block_drafter.h"

#include <algorithm>

namespace engine {

using base::Token;
using llama::Decoded;
using llama::DraftLogits;

namespace {

int32_t texts_together(int32_t sequences, int32_t drafts_max) {
    return std::clamp(BlockDrafter::kLogitsMax / (drafts_max + 1), 1, sequences);
}

} // namespace

llama::DraftContext::Size BlockDrafter::size(int32_t sequences, int32_t drafts_max) {
    return {.texts = sequences, .together = texts_together(sequences, drafts_max), .drafts = drafts_max};
}

BlockDrafter::BlockDrafter(std::unique_ptr<llama::DraftContext> context, const llama::Speculator& speculator,
                           int32_t sequences, int32_t drafts_max, int32_t vocabulary_size)
    : StateDrafter(std::move(context), Follows::all_tokens,
                   {.sequences = sequences,
                    .texts_max = texts_together(sequences, drafts_max),
                    .drafts_max = drafts_max,
                    .vocabulary_size = vocabulary_size}),
      ahead_(speculator.predicts_from_first ? 0 : 1),
      mask_(speculator.mask) {}

bool BlockDrafter::read(const Text& text, std::span<const Token> /*next*/, std::span<const float> states) {
    const llama::DraftPart part{.place = text.place, .first = text.first, .tokens = {}, .states = states};
    return context().decode({&part, 1}, DraftLogits::none) == Decoded::ok;
}

bool BlockDrafter::guess(std::span<Text* const> texts, int32_t most) {
    parts_.clear();
    for (const Text* text : texts)
        parts_.push_back({.place = text->place, .first = text->first, .tokens = {}, .states = text->states});
    if (context().decode(parts_, DraftLogits::none) != Decoded::ok) return false;
    const auto length = static_cast<size_t>(ahead_ + most);
    blocks_.assign(texts.size() * length, mask_);
    parts_.clear();
    for (Text* text : texts) {
        const size_t begin = parts_.size() * length;
        blocks_[begin] = text->last;
        const std::span<const Token> block = std::span(blocks_).subspan(begin, length);
        parts_.push_back({.place = text->place, .first = text->length - 1, .tokens = block, .states = {}});
        text->held = text->length - 1 + static_cast<int32_t>(length);
    }
    if (context().decode(parts_, DraftLogits::all) != Decoded::ok) return false;
    for (size_t i = 0; i < texts.size(); ++i) {
        for (size_t output = static_cast<size_t>(ahead_); output < length; ++output) {
            if (!add_guess(*texts[i], context().logits(i, output))) return false;
        }
    }
    return true;
}

} // namespace engine
