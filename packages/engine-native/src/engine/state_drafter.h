// What drafters share that draft from the hidden states of the model, with layers in a context of their own
// (llama/context/draft_context.h): the texts that they follow. After each step, they get the hidden states of what it computed; before the
// next one, they draft for all of its sequences together.
//
// A text begins, for these layers, with the first token that was computed while it was followed: what the prefix cache had before it is
// unknown to them. A text that was not followed for a while begins again. Engine thread only.
#pragma once

#include "engine/drafter.h"
#include "engine/likeliest_token.h"
#include "llama/context/draft_context.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace engine {

class StateDrafter : public Drafter {
public:
    int32_t drafts_max() const override { return drafts_max_; }
    int32_t texts_max() const override { return texts_max_; }
    Follows follows() const override { return follows_; }
    void follow(base::RequestId id, int32_t first, std::span<const base::Token> tokens,
                std::span<const float* const> states) override;
    void prepare(std::span<const sched::DecodingText> texts, int32_t most) override;
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> tokens,
                                 int32_t most) override;
    Cost cost() const override { return cost_; }
    void forget(base::RequestId id) override;
    void abort() override { context_->abort(); }

protected:
    struct Text {
        int32_t place;
        /// Index in the text of the first token that the layers have not read. The context may hold drafts from there on, up to `held`.
        int32_t first;
        int32_t held = 0;
        /// Tokens that the model computed from there on, and its hidden states at them.
        std::vector<base::Token> tokens = {};
        std::vector<float> states = {};
        /// The text's length when it was drafted for, its last token, and guesses of the tokens after it; the likely ones are drafts.
        int32_t length = 0;
        base::Token last = 0;
        std::vector<Guess> guesses = {};
    };

    struct Limits {
        /// How many texts run at the same time, and for how many of them drafts are computed together.
        int32_t sequences;
        int32_t texts_max;
        int32_t drafts_max;
        int32_t vocabulary_size;
    };
    StateDrafter(std::unique_ptr<llama::DraftContext> context, Follows follows, const Limits& limits);

    /// Lets the layers read tokens of one text; `next` are the tokens after each of them. False if it fails.
    virtual bool read(const Text& text, std::span<const base::Token> next, std::span<const float> states) = 0;

    /// Lets the layers read the rest of these texts, and guesses at most `most` tokens of each. False if it fails.
    virtual bool guess(std::span<Text* const> texts, int32_t most) = 0;

    llama::DraftContext& context() { return *context_; }

    /// Guesses the next token of a text from logits, which are null if computing them failed: then false.
    bool add_guess(Text& text, const float* logits);

private:
    Text* text_of(base::RequestId id, int32_t first);
    bool read_all_but_last(Text& text);
    bool trim(Text& text);
    void give_up();

    std::unique_ptr<llama::DraftContext> context_;
    const Follows follows_;
    const int32_t drafts_max_;
    const int32_t texts_max_;
    const int32_t vocabulary_size_;
    std::unordered_map<base::RequestId, Text> texts_;
    /// The context's places that no text has.
    std::vector<int32_t> free_places_;
    LikeliestToken likeliest_;
    std::vector<Text*> asked_;
    std::vector<Draft> drafts_;
    /// Time for reading since the last prepare().
    double reading_ms_ = 0;
    Cost cost_;
};

} // namespace engine
