#include "engine/choose_drafters.h"

#include "engine/block_drafter.h"
#include "engine/chain_drafter.h"
#include "engine/draft_model.h"
#include "engine/limits.h"
#include "engine/ngram_drafter.h"
#include "llama/context/draft_context.h"
#include "llama/model/speculator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace engine {

namespace {

using Chosen = base::Result<std::unique_ptr<Drafter>>;
using llama::DraftContext;

/// Drafts of a drafter that computes one after the other, if no number is given.
constexpr int32_t kDraftsDefault = 4;

/// The number of drafts of a speculator; `requested` is 0 for its own number.
int32_t drafts_of(const llama::Speculator& speculator, int32_t requested) {
    if (speculator.block_drafts == 0) return requested > 0 ? requested : kDraftsDefault;
    return requested > 0 ? std::min(requested, speculator.block_drafts) : speculator.block_drafts;
}

DraftContext::Size size_of(const llama::Speculator& speculator, int32_t sequences, int32_t drafts) {
    return speculator.block_drafts > 0 ? BlockDrafter::size(sequences, drafts)
                                       : ChainDrafter::size(sequences, drafts);
}

Chosen speculator_drafter(const EngineOptions& options, const llama::ContextOptions& context,
                          const llama::Model& model, llama::Context& target) {
    const auto& speculator = *options.draft_model->info().speculator;
    const base::Result<int32_t> common = llama::check_speculator(*options.draft_model, model);
    if (!common) return std::unexpected(common.error());
    const int32_t drafts = drafts_of(speculator, options.draft_tokens);
    const int32_t sequences = context.sequences;
    auto layers =
        DraftContext::create(options.draft_model, context, size_of(speculator, sequences, drafts), target);
    if (!layers) return std::unexpected(layers.error());
    if (speculator.block_drafts > 0)
        return std::make_unique<BlockDrafter>(std::move(*layers), speculator, sequences, drafts, *common);
    return std::make_unique<ChainDrafter>(std::move(*layers), Follows::all_tokens, sequences, drafts,
                                          *common);
}

/// A drafter that takes time; null for none.
Chosen slow_drafter(const EngineOptions& options, const llama::ContextOptions& context,
                    const std::shared_ptr<const llama::Model>& model, llama::Context& target) {
    if (options.draft_model != nullptr) {
        if (options.draft_model->info().speculator)
            return speculator_drafter(options, context, *model, target);
        const int32_t drafts = options.draft_tokens > 0 ? options.draft_tokens : kDraftsDefault;
        return DraftModel::create(options.draft_model, *model, context, drafts);
    }
    if (!context.has_mtp) return nullptr;
    const int32_t drafts = ChainDrafter::kMtpDraftsMax;
    const auto size = ChainDrafter::size(context.sequences, drafts);
    auto mtp = DraftContext::create(model, context, size, target.threadpool());
    if (!mtp) return std::unexpected(mtp.error());
    return std::make_unique<ChainDrafter>(std::move(*mtp), Follows::outputs, context.sequences, drafts,
                                          model->info().vocabulary_size);
}

} // namespace

base::Result<std::unique_ptr<Speculation>> choose_drafters(const EngineOptions& options,
                                                           const llama::ContextOptions& context,
                                                           const std::shared_ptr<const llama::Model>& model,
                                                           llama::Context& target) {
    const bool is_recurrent = model->info().is_recurrent;
    const bool has_draft_model = options.speculation == SpeculationMode::draft_model;
    if (options.speculation != SpeculationMode::off) {
        const auto checked = check_rollback(*model, context, has_draft_model ? "draftModel" : "speculation");
        if (!checked) return std::unexpected(checked.error());
    } else if (is_recurrent && context.rollback == 0) return nullptr;
    Chosen slow = slow_drafter(options, context, model, target);
    if (!slow) return std::unexpected(slow.error());
    using enum NgramDrafter::Scope;
    const auto scope =
        options.speculation == SpeculationMode::ngram ? every_request : requests_with_prediction;
    const int32_t drafts_max = is_recurrent ? context.rollback : std::numeric_limits<int32_t>::max();
    return std::make_unique<Speculation>(std::make_unique<NgramDrafter>(scope), std::move(*slow), drafts_max);
}

base::Result<std::vector<llama::MemoryUse>> measure_drafting(const llama::Model& model,
                                                             const llama::ContextOptions& context,
                                                             const llama::Model* draft_model,
                                                             int32_t draft_tokens) {
    const int32_t slots = slots_of(model, context);
    if (draft_model != nullptr && draft_model->info().speculator) {
        const auto& speculator = *draft_model->info().speculator;
        const auto checked = llama::check_speculator(*draft_model, model);
        if (!checked) return std::unexpected(checked.error());
        const auto size = size_of(speculator, context.sequences, drafts_of(speculator, draft_tokens));
        return DraftContext::measure(*draft_model, model, context, slots, size);
    }
    auto uses = llama::measure(model, context, slots);
    const auto add = [&](const base::Result<std::vector<llama::MemoryUse>>& more) {
        if (!uses) return;
        if (more) llama::add_uses(*uses, *more);
        else uses = std::unexpected(more.error());
    };
    if (uses && draft_model != nullptr) add(DraftModel::measure(*draft_model, context));
    if (uses && context.has_mtp)
        add(DraftContext::measure(model, context,
                                  ChainDrafter::size(context.sequences, ChainDrafter::kMtpDraftsMax)));
    return uses;
}

} // namespace engine
