#include "napi/measure.h"

#include "engine/embedding_queue.h"
#include "engine/limits.h"
#include "llama/backend/backend.h"
#include "llama/context/measure.h"
#include "napi/async_work.h"
#include "napi/check.h"
#include "napi/convert.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace binding {

namespace {

struct Measured {
    llama_rt::ModelInfo info;
    std::vector<llama_rt::MemoryUse> uses;
};

base::Result<Measured> measure(const llama_rt::ModelOptions& options, llama_rt::ContextOptions context) {
    const auto outline = llama_rt::Model::outline(options);
    if (!outline) return std::unexpected(outline.error());
    const llama_rt::Model& model = **outline;
    // More cannot be used: no request is longer than the trained length, and only so many run at once.
    context.context_length = std::min(context.context_length, model.info().context_length_train);
    const int64_t full = int64_t{context.context_length} * context.sequences;
    context.cells = static_cast<int32_t>(std::min<int64_t>(context.cells, full));
    const llama_rt::ContextOptions effective = engine::options_for(model, context);
    auto uses = llama_rt::measure(model, effective, engine::slots_of(model, effective));
    if (!uses) return std::unexpected(uses.error());
    if (!uses->empty()) uses->front().compute += engine::planned_embedding_bytes(model, context);
    if (options.vision) {
        if (auto measured = llama_rt::measure_vision(*options.vision, *uses); !measured)
            return std::unexpected(measured.error());
    }
    return Measured{.info = model.info(), .uses = std::move(*uses)};
}

} // namespace

Napi::Value measure_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::ModelOptions> model = to_model_options(info[0]);
    base::Result<llama_rt::ContextOptions> context = to_context_options(info[1]);
    if (!model) return thrown(env, model.error());
    if (!context) return thrown(env, context.error());
    return run_async(
        env,
        [model = std::move(*model), context = std::move(*context)] {
            base::Result<Measured> measured = measure(model, context);
            llama_rt::give_back_freed_memory(); // another thread reads the model soon
            return measured;
        },
        [](Napi::Env to, Measured measured) { return from_measure(to, measured.info, measured.uses); });
}

} // namespace binding
