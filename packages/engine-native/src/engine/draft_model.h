// Drafts with a smaller model that has the same vocabulary. It has its own context with room for one text, which it reads when
// first asked for drafts of it; if the next text shares a prefix, that prefix is kept. Engine thread only.
#pragma once

#include "base/result.h"
#include "engine/drafter.h"
#include "llama/context/context.h"
#include "llama/model/model.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class DraftModel final : public Drafter {
public:
    /// `model` drafts for `target`, whose context has these options. `invalid_argument` if it cannot: its vocabulary differs, or
    /// its recurrent state cannot be rolled back.
    static base::Result<std::unique_ptr<DraftModel>> create(std::shared_ptr<const llama_rt::Model> model,
                                                            const llama_rt::Model& target,
                                                            llama_rt::ContextOptions options);

    bool takes_time() const override { return true; }
    std::span<const Draft> draft(base::RequestId id, std::span<const base::Token> text,
                                 int32_t most) override;
    Cost cost() const override { return cost_; }
    void abort() override { context_->abort(); }

private:
    DraftModel(std::unique_ptr<llama_rt::Context> context, int32_t vocabulary_size, int32_t length_max)
        : context_(std::move(context)), vocabulary_size_(vocabulary_size), length_max_(length_max) {}

    void learn_acceptance(std::span<const base::Token> text);
    void draft_all(std::span<const base::Token> text, size_t most);
    bool read(std::span<const base::Token> text);
    bool compute(std::span<const base::Token> tokens, bool wants_logits);
    bool give_up();
    base::Token likeliest_next();

    std::unique_ptr<llama_rt::Context> context_;
    /// Number of tokens that both vocabularies share.
    int32_t vocabulary_size_;
    /// The longest text that the model was trained for and that its context has room for.
    int32_t length_max_;
    /// The tokens whose state the context holds.
    std::vector<base::Token> held_;
    std::vector<Draft> drafts_;
    /// How often drafts were accepted, by the model's own probability of them in tenths. It depends on how similar the two models
    /// are, and on how the target samples.
    std::array<AcceptanceRate, 11> rates_;
    /// For each draft, its index in rates_.
    std::vector<size_t> tenths_;
    /// Length of the text that drafts_ follow.
    size_t length_ = 0;
    std::vector<double> sums_;
    Cost cost_;
};

} // namespace engine
