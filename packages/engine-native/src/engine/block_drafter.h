// Drafts a block of tokens at once, with a DFlash or DSpark speculator: its layers read the model's hidden states as keys and values, and
// predict what belongs in place of each mask after the text's last token. The blocks of all texts are one batch.
#pragma once

#include "engine/state_drafter.h"
#include "llama/model/speculator.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class BlockDrafter final : public StateDrafter {
public:
    /// At most this many tokens have logits in one batch: they take memory of the vocabulary's size.
    static constexpr int32_t kLogitsMax = 128;

    /// What the context must have room for.
    static llama::DraftContext::Size size(int32_t sequences, int32_t drafts_max);

    BlockDrafter(std::unique_ptr<llama::DraftContext> context, const llama::Speculator& speculator,
                 int32_t sequences, int32_t drafts_max, int32_t vocabulary_size);

    bool drafts_at_once() const override { return true; }

private:
    bool read(const Text& text, std::span<const base::Token> next, std::span<const float> states) override;
    bool guess(std::span<Text* const> texts, int32_t most) override;

    /// Tokens before the first one that predicts a draft.
    const int32_t ahead_;
    const base::Token mask_;
    std::vector<llama::DraftPart> parts_;
    std::vector<base::Token> blocks_;
};

} // namespace engine
