#include "engine/draft_model.h"

#include "base/types.h"
#include "engine/events.h"
#include "llama/sampling/candidates.h"
#include "llama/sampling/softmax.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engine {

using base::Code;
using base::Token;

namespace {

/// Maximum number of tokens of a text read in one step: the reply that waits for them should not stall for long.
constexpr int32_t kReadMax = 128;

/// Up to this many new tokens, a step's growth with drafts, are read as a part of drafting; more are text that the model did not
/// follow.
constexpr size_t kFollowedMax = 16;

/// A draft that is accepted less often is not worth computing, and those after it even less.
constexpr double kChanceMin = 0.4;

} // namespace

base::Result<std::unique_ptr<DraftModel>> DraftModel::create(std::shared_ptr<const llama_rt::Model> model,
                                                             const llama_rt::Model& target,
                                                             llama_rt::ContextOptions options) {
    if (model->info().is_recurrent) {
        return base::fail(Code::invalid_argument, "A " + model->info().architecture +
                                                      " model cannot draft for another model: its recurrent "
                                                      "state cannot be rolled back after a rejected "
                                                      "draft. Choose a draft model of another architecture.");
    }
    const base::Result<int32_t> common = llama_rt::common_vocabulary(target, *model);
    if (!common) return std::unexpected(common.error());
    options.context_length = std::min(options.context_length, model->info().context_length_train);
    options.cells = options.context_length;
    options.sequences = 1;
    options.batch_tokens = kReadMax;
    options.ubatch_tokens = 0;
    options.rope = {}; // the given ones are for the other model
    auto context = llama_rt::Context::create(model, options, 1);
    if (!context) return std::unexpected(context.error());
    return std::unique_ptr<DraftModel>(new DraftModel(std::move(*context), *common, options.context_length));
}

std::span<const Draft> DraftModel::draft(base::RequestId, std::span<const Token> text, int32_t most) {
    const Clock::time_point begin = Clock::now();
    learn_acceptance(text);
    drafts_.clear();
    tenths_.clear();
    cost_ = {};
    draft_all(text, static_cast<size_t>(most));
    const bool has_only_read = drafts_.empty() && cost_.reading_ms > 0;
    cost_.drafting_ms = has_only_read ? 0 : milliseconds(begin) - cost_.reading_ms;
    return drafts_;
}

/// If the last drafts were for the same text, learns which of them were accepted.
void DraftModel::learn_acceptance(std::span<const Token> text) {
    if (drafts_.empty() || text.size() <= length_ || length_ > held_.size() ||
        !std::ranges::equal(text.first(length_), std::span(held_).first(length_)))
        return;
    for (size_t i = 0; i < drafts_.size() && length_ + i < text.size(); ++i) {
        const bool is_accepted = drafts_[i].token == text[length_ + i];
        rates_[tenths_[i]].observe(is_accepted);
        if (!is_accepted) return;
    }
}

void DraftModel::draft_all(std::span<const Token> text, size_t most) {
    length_ = text.size();
    if (std::ssize(text) + static_cast<int32_t>(most) > length_max_ || !read(text)) return;
    for (;;) {
        const Token token = likeliest_next();
        const double chance = rates_[tenths_.back()].mean();
        if (chance < kChanceMin) return;
        drafts_.push_back({.token = token, .chance = chance});
        if (drafts_.size() == most || !compute(std::span(&token, 1), true)) return;
    }
}

/// Computes the part of the text that the context does not hold yet. False if that is more than one step may read, or if it
/// fails.
bool DraftModel::read(std::span<const Token> text) {
    const auto [own, _] = std::ranges::mismatch(held_, text);
    // The last token is always computed for its logits.
    const size_t common = std::min(static_cast<size_t>(own - held_.begin()), text.size() - 1);
    if (common < held_.size()) {
        if (!context_->remove(0, static_cast<int32_t>(common))) return give_up();
        held_.resize(common);
    }
    const std::span<const Token> rest = text.subspan(common);
    const bool is_all = rest.size() <= static_cast<size_t>(kReadMax);
    const Clock::time_point begin = Clock::now();
    const bool is_read = compute(is_all ? rest : rest.first(static_cast<size_t>(kReadMax)), is_all);
    if (rest.size() > kFollowedMax) cost_.reading_ms = milliseconds(begin);
    return is_read && is_all;
}

bool DraftModel::compute(std::span<const Token> tokens, bool wants_logits) {
    // The draft model reads no images, so it does not draft after them.
    const auto has_token = [this](Token token) { return !base::is_image(token) && token < vocabulary_size_; };
    if (!std::ranges::all_of(tokens, has_token)) return false;
    const llama_rt::BatchPart part{.slot = 0,
                                   .first = static_cast<int32_t>(held_.size()),
                                   .tokens = tokens,
                                   .wants_logits = wants_logits};
    if (context_->decode(std::span(&part, 1)) != llama_rt::Decoded::ok) return give_up();
    // A GPU computes after decode() has returned: only reading the logits shows that it failed.
    if (wants_logits && context_->logits(0) == nullptr) return give_up();
    held_.insert(held_.end(), tokens.begin(), tokens.end());
    return true;
}

/// After a failure, the context's contents are unknown: the text is read again. Returns false, for the caller to return.
bool DraftModel::give_up() {
    context_->clear();
    held_.clear();
    return false;
}

/// The model's next token. Adds its probability to tenths_.
Token DraftModel::likeliest_next() {
    const std::span<const float> logits(context_->logits(0), static_cast<size_t>(vocabulary_size_));
    const Token token = llama_rt::likeliest(logits);
    const float highest = logits[static_cast<size_t>(token)];
    const double probability =
        std::isfinite(highest) ? 1.0 / llama_rt::exp_sum(logits, highest, 1.0F, sums_) : 0.0;
    tenths_.push_back(static_cast<size_t>(probability * 10));
    return token;
}

} // namespace engine
