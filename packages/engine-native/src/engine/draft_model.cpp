#include "engine/draft_model.h"

#include "base/types.h"
#include "engine/events.h"

#include <algorithm>
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

/// The options of its context, for a model whose context has the given ones.
llama::ContextOptions for_one_text(const llama::Model& model, llama::ContextOptions options) {
    options.context_length = std::min(options.context_length, model.info().context_length_train);
    options.cells = options.context_length;
    options.sequences = 1;
    options.batch_tokens = kReadMax;
    options.ubatch_tokens = 0;
    options.selected = 0;
    options.rope = {}; // the given ones are for the other model
    options.has_streams = false;
    options.rollback = 0;
    options.has_mtp = false;
    return options;
}

} // namespace

base::Result<std::unique_ptr<DraftModel>> DraftModel::create(std::shared_ptr<const llama::Model> model,
                                                             const llama::Model& target,
                                                             llama::ContextOptions options,
                                                             int32_t drafts_max) {
    if (model->info().is_recurrent) {
        return base::fail(Code::invalid_argument, "A " + model->info().architecture +
                                                      " model cannot draft for another model: its recurrent "
                                                      "state cannot be rolled back after a rejected "
                                                      "draft. Choose a draft model of another architecture.");
    }
    const base::Result<int32_t> common = llama::common_vocabulary(target, *model);
    if (!common) return std::unexpected(common.error());
    options = for_one_text(*model, options);
    auto context = llama::Context::create(model, options, 1);
    if (!context) return std::unexpected(context.error());
    return std::unique_ptr<DraftModel>(
        new DraftModel(std::move(*context), *common, options.context_length, drafts_max));
}

base::Result<std::vector<llama::MemoryUse>> DraftModel::measure(const llama::Model& model,
                                                                llama::ContextOptions options) {
    return llama::measure(model, for_one_text(model, std::move(options)), 1);
}

void DraftModel::prepare(std::span<const sched::DecodingText> texts, int32_t most) {
    const auto& [id, text] = texts.front();
    const Clock::time_point begin = Clock::now();
    learn_acceptance(text);
    guesses_.clear();
    drafts_.clear();
    cost_ = {};
    id_ = id;
    draft_all(text, static_cast<size_t>(most));
    cost_.drafts = std::max(static_cast<int32_t>(guesses_.size()), 1);
    const bool has_only_read = drafts_.empty() && cost_.reading_ms > 0;
    cost_.drafting_ms = has_only_read ? 0 : milliseconds(begin) - cost_.reading_ms;
}

std::span<const Draft> DraftModel::draft(base::RequestId id, std::span<const Token> text, int32_t most) {
    if (id != id_ || text.size() != length_) return {};
    return std::span(drafts_).first(std::min(drafts_.size(), static_cast<size_t>(most)));
}

/// If the last guesses were for the same text, learns which of them were right.
void DraftModel::learn_acceptance(std::span<const Token> text) {
    if (text.size() <= length_ || length_ > held_.size() ||
        !std::ranges::equal(text.first(length_), std::span(held_).first(length_)))
        return;
    likeliest_.observe(guesses_, text.subspan(length_));
}

void DraftModel::draft_all(std::span<const Token> text, size_t most) {
    length_ = text.size();
    if (std::ssize(text) + static_cast<int32_t>(most) > length_max_ || !read(text)) return;
    for (;;) {
        const Guess guess = likeliest_.find({context_->logits(0), static_cast<size_t>(vocabulary_size_)});
        guesses_.push_back(guess);
        if (!guess.is_likely()) return;
        drafts_.push_back(guess.draft);
        if (drafts_.size() == most || !compute(std::span(&guess.draft.token, 1), true)) return;
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
    const llama::BatchPart part{.slot = 0,
                                .first = static_cast<int32_t>(held_.size()),
                                .tokens = tokens,
                                .wants_logits = wants_logits};
    if (context_->decode(std::span(&part, 1)) != llama::Decoded::ok) return give_up();
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

} // namespace engine
