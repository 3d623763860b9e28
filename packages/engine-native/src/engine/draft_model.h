// Drafts with a smaller model that has the same vocabulary. It has its own context with room for one text, which it reads when
// first asked for drafts of it; if the next text shares a prefix, that prefix is kept. Engine thread only.
#pragma once

#include "base/result.h"
#include "engine/drafter.h"
#include "engine/likeliest_token.h"
#include "llama/context/context.h"
#include "llama/context/measure.h"
#include "llama/model/model.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class DraftModel final : public Drafter {
public:
    /// `model` drafts at most `drafts_max` tokens at a time for `target`, whose context has these options. `invalid_argument` if it
    /// cannot: its vocabulary differs, or its recurrent state cannot be rolled back.
    static base::Result<std::unique_ptr<DraftModel>> create(std::shared_ptr<const llama::Model> model,
                                                            const llama::Model& target,
                                                            llama::ContextOptions options,
                                                            int32_t drafts_max);

    /// The memory of such a model and its context. Fails as measure() does.
    static base::Result<std::vector<llama::MemoryUse>> measure(const llama::Model& model,
                                                               llama::ContextOptions options);

    int32_t texts_max() const override { return 1; }
    int32_t drafts_max() const override { return drafts_max_; }
    void prepare(std::span<const sched::DecodingText> texts, int32_t most) override;
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                 int32_t most) override;
    Cost cost() const override { return cost_; }
    void abort() override { context_->abort(); }

private:
    DraftModel(std::unique_ptr<llama::Context> context, int32_t vocabulary_size, int32_t length_max,
               int32_t drafts_max)
        : context_(std::move(context)),
          vocabulary_size_(vocabulary_size),
          length_max_(length_max),
          drafts_max_(drafts_max) {}

    void learn_acceptance(std::span<const base::Token> text);
    void draft_all(std::span<const base::Token> text, size_t most);
    bool read(std::span<const base::Token> text);
    bool compute(std::span<const base::Token> tokens, bool wants_logits);
    bool give_up();

    std::unique_ptr<llama::Context> context_;
    /// Number of tokens that both vocabularies share.
    int32_t vocabulary_size_;
    /// The longest text that the model was trained for and that its context has room for.
    int32_t length_max_;
    int32_t drafts_max_;
    /// The tokens whose state the context holds.
    std::vector<base::Token> held_;
    LikeliestToken likeliest_;
    /// For the request `id_`, whose text has `length_` tokens: the likely ones of them are drafts.
    std::vector<Guess> guesses_;
    std::vector<Draft> drafts_;
    base::RequestId id_ = 0;
    size_t length_ = 0;
    Cost cost_;
};

} // namespace engine
