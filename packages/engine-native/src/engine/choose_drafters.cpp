#include "engine/choose_drafters.h"

#include "engine/draft_model.h"
#include "engine/limits.h"
#include "engine/mtp_drafter.h"
#include "engine/ngram_drafter.h"
#include "llama/context/mtp_context.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

namespace {

using Chosen = base::Result<std::unique_ptr<Drafter>>;

/// A drafter that takes time; null for none.
Chosen slow_drafter(const EngineOptions& options, const llama_rt::ContextOptions& context,
                    const std::shared_ptr<const llama_rt::Model>& model,
                    const llama_rt::ThreadpoolPtr& threadpool) {
    if (options.draft_model != nullptr)
        return DraftModel::create(options.draft_model, *model, options.context, options.draft_tokens);
    if (!context.has_mtp) return nullptr;
    auto mtp = llama_rt::MtpContext::create(model, context, threadpool);
    if (!mtp) return std::unexpected(mtp.error());
    return std::make_unique<MtpDrafter>(std::move(*mtp), context.sequences, model->info().vocabulary_size);
}

} // namespace

base::Result<std::unique_ptr<Speculation>>
choose_drafters(const EngineOptions& options, const llama_rt::ContextOptions& context,
                const std::shared_ptr<const llama_rt::Model>& model,
                const llama_rt::ThreadpoolPtr& threadpool) {
    const bool is_recurrent = model->info().is_recurrent;
    if (options.speculates) {
        const auto checked =
            check_rollback(*model, context, options.draft_model ? "draftModel" : "speculation");
        if (!checked) return std::unexpected(checked.error());
    } else if (is_recurrent && context.rollback == 0) return nullptr;
    Chosen slow = slow_drafter(options, context, model, threadpool);
    if (!slow) return std::unexpected(slow.error());
    using enum NgramDrafter::Scope;
    const bool is_for_all = options.speculates && options.draft_model == nullptr;
    const auto scope = is_for_all ? every_request : requests_with_prediction;
    const int32_t drafts_max = is_recurrent ? context.rollback : std::numeric_limits<int32_t>::max();
    return std::make_unique<Speculation>(std::make_unique<NgramDrafter>(scope), std::move(*slow), drafts_max);
}

} // namespace engine
