// Drafts one token after the other, with layers for multi-token prediction or an EAGLE-3 speculator. From a token and the hidden state
// before it, they predict the token after it; their own hidden state stands in for the model's one token further. Each draft of all texts
// is one batch.
#pragma once

#include "engine/state_drafter.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class ChainDrafter final : public StateDrafter {
public:
    /// Layers for multi-token prediction were trained to predict one token; each further one is less often right.
    static constexpr int32_t kMtpDraftsMax = 3;

    /// What the context of these layers must have room for.
    static llama::DraftContext::Size size(int32_t sequences, int32_t drafts_max) {
        return {.texts = sequences, .together = sequences, .drafts = drafts_max};
    }

    /// With the layers of the model itself, a text begins with its first generated token: only tokens with logits have the states that
    /// they read.
    ChainDrafter(std::unique_ptr<llama::DraftContext> context, Follows follows, int32_t sequences,
                 int32_t drafts_max, int32_t vocabulary_size)
        : StateDrafter(std::move(context), follows,
                       {.sequences = sequences,
                        .texts_max = sequences,
                        .drafts_max = drafts_max,
                        .vocabulary_size = vocabulary_size}) {}

private:
    bool read(const Text& text, std::span<const base::Token> next, std::span<const float> states) override;
    bool guess(std::span<Text* const> texts, int32_t most) override;
    bool encode_rest(std::span<Text* const> texts);
    bool guess_next();

    /// The texts whose next token is guessed, and what is computed for each.
    std::vector<Text*> guessing_;
    std::vector<llama::DraftPart> parts_;
    std::vector<float> inputs_;
    std::vector<base::Token> tokens_;
    std::vector<float> states_;
};

} // namespace engine
