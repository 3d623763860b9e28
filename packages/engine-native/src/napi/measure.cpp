#include "napi/measure.h"

#include "engine/embedding_queue.h"
#include "engine/limits.h"
#include "llama/backend/backend.h"
#include "llama/context/measure.h"
#include "napi/check.h"
#include "napi/convert.h"
#include "napi/promise_worker.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace binding {

namespace {

class MeasureWorker final : public PromiseWorker {
public:
    MeasureWorker(llama_rt::ModelOptions model, llama_rt::ContextOptions context)
        : model_(std::move(model)), context_(std::move(context)) {}

private:
    base::Result<void> execute() override {
        base::Result<void> measured = measure();
        llama_rt::give_back_freed_memory(); // the model is soon read again, by another thread
        return measured;
    }

    base::Result<void> measure() {
        const auto outline = llama_rt::Model::outline(model_);
        if (!outline) return std::unexpected(outline.error());
        const llama_rt::Model& model = **outline;
        // Nobody can use more than that: no request is longer, and all of them together are as many.
        context_.context_length = std::min(context_.context_length, model.info().context_length_train);
        const int64_t full = int64_t{context_.context_length} * context_.sequences;
        context_.cells = static_cast<int32_t>(std::min<int64_t>(context_.cells, full));
        const llama_rt::ContextOptions context = engine::options_for(model, context_);
        auto uses = llama_rt::measure(model, context, engine::slots_of(model, context));
        if (!uses) return std::unexpected(uses.error());
        if (!uses->empty()) uses->front().compute += engine::planned_embedding_bytes(model, context_);
        if (model_.vision) {
            if (auto measured = llama_rt::measure_vision(*model_.vision, *uses); !measured) return measured;
        }
        info_ = model.info();
        uses_ = std::move(*uses);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_measure(env, info_, uses_); }

    llama_rt::ModelOptions model_;
    llama_rt::ContextOptions context_;
    llama_rt::ModelInfo info_{};
    std::vector<llama_rt::MemoryUse> uses_;
};

} // namespace

Napi::Value measure_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::ModelOptions> model = to_model_options(info[0]);
    base::Result<llama_rt::ContextOptions> context = to_context_options(info[1]);
    if (!model || !context) {
        throw_error(env, model ? context.error() : model.error());
        return env.Undefined();
    }
    return PromiseWorker::start(env, std::make_unique<MeasureWorker>(std::move(*model), std::move(*context)));
}

} // namespace binding
