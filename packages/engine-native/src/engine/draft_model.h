// A smaller model that guesses for a larger one with the same vocabulary. It has a context of its own with room for one
// text, which it reads when it is first asked about it; of another text that begins alike it keeps the beginning. Nothing
// is spent on it while nobody asks: it is asked only while one reply is running (speculation.h). Engine thread only.
#pragma once

#include "base/result.h"
#include "engine/guesser.h"
#include "engine/hit_rate.h"
#include "llama/context/context.h"
#include "llama/model/model.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class DraftModel final : public Guesser {
public:
    /// `model` is to guess for `target`, whose context has these options. `invalid_argument` when it cannot: another
    /// vocabulary, or a state that cannot be taken back.
    static base::Result<std::unique_ptr<DraftModel>> create(std::shared_ptr<const llama_rt::Model> model,
                                                            const llama_rt::Model& target,
                                                            llama_rt::ContextOptions options);

    std::span<const Guess> guess(std::span<const base::Token> text, int32_t most) override;
    double ms() const override { return ms_; }
    double reading_ms() const override { return reading_ms_; }

    /// Any thread: what is being computed ends soon.
    void abort() { context_->abort(); }

private:
    DraftModel(std::unique_ptr<llama_rt::Context> context, int32_t vocabulary_size, int32_t length_max)
        : context_(std::move(context)), vocabulary_size_(vocabulary_size), length_max_(length_max) {}

    void judge(std::span<const base::Token> text);
    void guess_all(std::span<const base::Token> text, size_t most);
    bool read(std::span<const base::Token> text);
    bool compute(std::span<const base::Token> tokens, bool wants_logits);
    bool give_up();
    base::Token likeliest_next();

    std::unique_ptr<llama_rt::Context> context_;
    /// Tokens that both models know.
    int32_t vocabulary_size_;
    /// Longest text that it was trained for and has room for.
    int32_t length_max_;
    /// The tokens whose state the context holds.
    std::vector<base::Token> held_;
    std::vector<Guess> guesses_;
    /// By the model's own probability of a guess, in tenths: how often it was right. That depends on how alike the two
    /// models are, and on how the target samples.
    std::array<HitRate, 11> rates_;
    std::vector<size_t> tenths_;
    /// Length of the text that guesses_ follows.
    size_t length_ = 0;
    std::vector<double> sums_;
    double ms_ = 0;
    double reading_ms_ = 0;
};

} // namespace engine
