// Drafts with a model's own layers for multi-token prediction (llama/context/mtp_context.h). After each step, they get the hidden states
// of what it generated; before the next one, they draft for all of its sequences in one batch for each draft.
//
// A text begins, for these layers, with the first token that was generated: the hidden states of a prompt would have to be computed to
// the end of the last layer and read by these layers, whether drafts pay or not. A text that was not followed for a while begins again.
// Engine thread only.
#pragma once

#include "engine/drafter.h"
#include "engine/likeliest_token.h"
#include "llama/context/mtp_context.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

class MtpDrafter final : public Drafter {
public:
    /// The layers were trained to predict one token; each further one is less often right.
    static constexpr int32_t kDraftsMax = 3;

    /// `context` has room for `sequences` texts.
    MtpDrafter(std::unique_ptr<llama_rt::MtpContext> context, int32_t sequences, int32_t vocabulary_size);

    int32_t drafts_max() const override { return kDraftsMax; }
    bool reads_states() const override { return true; }
    void follow(base::RequestId id, int32_t first, std::span<const base::Token> tokens,
                std::span<const float* const> states) override;
    void prepare(std::span<const sched::DecodingText> texts, int32_t most) override;
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> tokens,
                                 int32_t most) override;
    Cost cost() const override { return cost_; }
    void forget(base::RequestId id) override;
    void abort() override { context_->abort(); }

private:
    struct Text {
        int32_t place;
        /// Index in the sequence of the next token to compute, and how far the context has computed: drafts may be beyond `first`.
        int32_t first;
        int32_t computed = 0;
        /// The tokens to compute, and the hidden state before each.
        std::vector<base::Token> tokens = {};
        std::vector<float> states = {};
        /// Guesses of the tokens after the first `length`; the likely ones of them are drafts.
        int32_t length = 0;
        std::vector<Guess> guesses = {};
    };

    Text* text_of(base::RequestId id, int32_t first, size_t count);
    bool guess_next();
    void give_up();

    std::unique_ptr<llama_rt::MtpContext> context_;
    const int32_t vocabulary_size_;
    std::unordered_map<base::RequestId, Text> texts_;
    /// The context's places that no text has.
    std::vector<int32_t> free_places_;
    LikeliestToken likeliest_;
    /// The texts whose next token prepare() guesses.
    std::vector<Text*> guessing_;
    std::vector<llama_rt::MtpPart> parts_;
    std::vector<Draft> drafts_;
    Cost cost_;
};

} // namespace engine
