// loadModel() of seam/model.d.ts: loads on a libuv thread, with progress and abort.
#include "llama/model/model.h"
#include "napi/addon.h"
#include "napi/async_work.h"
#include "napi/cleanup_hook.h"
#include "napi/js_function.h"
#include "napi/model_object.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <atomic>
#include <memory>
#include <utility>

namespace napi {

namespace {

/// Progress is reported in steps of this share, so that JavaScript is not woken for every tensor.
constexpr float kProgressStep = 0.01F;

/// What the load, its abort function and the environment's teardown share.
struct LoadState {
    std::atomic<bool> is_aborted = false;
    std::atomic<float> progress = 0;
    /// Constant after construction.
    llama::WorkerConnections workers = {};
};

/// Aborts the load at exit: Node.js waits for running work, and a load may take minutes.
void on_teardown(void* data) {
    auto* state = static_cast<LoadState*>(data);
    state->is_aborted.store(true);
    for (const auto& worker : state->workers) worker->shut_down();
}

} // namespace

Napi::Value load_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto options = read<llama::ModelOptions>(info[0]);
    if (!options) return thrown(env, options.error());
    const auto state = std::make_shared<LoadState>();
    state->workers = options->workers;
    auto teardown = std::make_unique<CleanupHook>(env, on_teardown, state.get());
    // At most one signal is pending: reports that JavaScript has not taken yet are merged into one, with the latest progress.
    auto on_progress = JsFunction<Signal>::create(
        env, info[1], "onProgress", 1, [state](napi_env to, napi_value function, Signal) {
            call_function(to, function, {Writer(to).write(state->progress.load())});
        });
    if (!on_progress) return thrown(env, on_progress.error());
    auto load = [options = std::move(*options), state, on_progress = std::move(*on_progress),
                 teardown = std::move(teardown)]() mutable {
        float reported = -1;
        const auto progress = [&](float fraction) {
            state->progress.store(fraction);
            if (fraction < reported + kProgressStep && fraction < 1) return;
            reported = fraction;
            on_progress.send({});
        };
        return llama::Model::load(options, progress, state->is_aborted);
    };
    Napi::Object started = Napi::Object::New(env);
    started.Set("model", run_async(env, std::move(load), ModelObject::wrap));
    started.Set("abort", Napi::Function::New(
                             env, [state](const Napi::CallbackInfo&) { state->is_aborted.store(true); }));
    return started;
}

} // namespace napi
