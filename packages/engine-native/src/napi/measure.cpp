// measureModel() of seam/model.d.ts: computes the memory that a model file needs, on a libuv thread.
#include "llama/context/measure.h"

#include "engine/choose_drafters.h"
#include "engine/embedding_memory.h"
#include "engine/engine.h"
#include "engine/limits.h"
#include "llama/backend/backend.h"
#include "napi/addon.h"
#include "napi/async_work.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace napi {

namespace {

struct Measured {
    int32_t context_length_train;
    std::vector<std::string> layer_devices;
    std::vector<llama::MemoryUse> uses;
};

constexpr auto fields_of(const Measured*) {
    return base::rows(base::field("contextLengthTrain", &Measured::context_length_train),
                      base::field("layerDevices", &Measured::layer_devices),
                      base::field("memories", &Measured::uses));
}

/// A draft model, and how many tokens it drafts at most in one step; 0 for its own number.
struct DraftModelOptions {
    llama::ModelOptions model;
    int32_t draft_tokens;
};

constexpr auto fields_of(const DraftModelOptions*) {
    return base::rows(base::field("model", &DraftModelOptions::model),
                      base::field("draftTokens", &DraftModelOptions::draft_tokens, engine::kDraftTokens));
}

base::Result<Measured> measure(const llama::ModelOptions& options, llama::ContextOptions context,
                               const std::optional<DraftModelOptions>& draft) {
    const auto outline = llama::Model::outline(options);
    if (!outline) return std::unexpected(outline.error());
    const llama::Model& model = **outline;
    std::shared_ptr<const llama::Model> draft_model;
    if (draft) {
        auto drafting = llama::Model::outline(draft->model);
        if (!drafting) return std::unexpected(drafting.error());
        draft_model = std::move(*drafting);
    }
    // More cells could never be used: no request is longer than the model allows, and only this many run or are cached at once.
    const int32_t contexts = std::max(context.sequences, context.cells / context.context_length);
    context.context_length = std::min(context.context_length, llama::length_max(model, context.rope));
    const int64_t full = int64_t{context.context_length} * contexts;
    context.cells = static_cast<int32_t>(std::min<int64_t>(context.cells, full));
    if (auto checked = engine::check_context(model, context); !checked)
        return std::unexpected(checked.error());
    auto uses = engine::measure_drafting(model, engine::options_for(model, context, draft_model.get()),
                                         draft_model.get(), draft ? draft->draft_tokens : 0);
    if (!uses) return std::unexpected(uses.error());
    const auto planned = engine::planned_embedding_memory(model, context);
    if (!planned) return std::unexpected(planned.error());
    llama::add_uses(*uses, *planned);
    if (options.vision) {
        if (auto measured = llama::measure_vision(*options.vision, *uses); !measured)
            return std::unexpected(measured.error());
    }
    return Measured{.context_length_train = model.info().context_length_train,
                    .layer_devices = model.layer_devices(),
                    .uses = std::move(*uses)};
}

} // namespace

Napi::Value measure_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto model = read<llama::ModelOptions>(info[0]);
    auto context = read<llama::ContextOptions>(info[1]);
    if (!model) return thrown(env, model.error());
    if (!context) return thrown(env, context.error());
    auto draft = read<std::optional<DraftModelOptions>>(info[2], "draft");
    if (!draft) return thrown(env, draft.error());
    return run_async(
        env,
        [model = std::move(*model), context = std::move(*context), draft = std::move(*draft)] {
            base::Result<Measured> measured = measure(model, context, draft);
            llama::give_back_freed_memory(); // another thread reads the model soon
            return measured;
        },
        to_js);
}

} // namespace napi
