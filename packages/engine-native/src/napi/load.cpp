#include "napi/load.h"

#include "llama/model/model.h"
#include "napi/async_work.h"
#include "napi/check.h"
#include "napi/cleanup_hook.h"
#include "napi/convert.h"
#include "napi/model_object.h"

#include <atomic>
#include <memory>
#include <utility>

namespace binding {

namespace {

/// Progress is reported in steps of this share, so that JS is not woken for every tensor.
constexpr float kProgressStep = 0.01F;

/// What the load, its abort function and the environment's teardown share.
struct LoadState {
    std::atomic<bool> is_aborted = false;
    std::atomic<float> progress = 0;
    /// Constant after construction.
    llama_rt::WorkerConnections workers = {};
};

/// Node waits for running work before it ends; a load of minutes must not hold it up.
void on_teardown(void* data) {
    auto* state = static_cast<LoadState*>(data);
    state->is_aborted.store(true);
    for (const auto& worker : state->workers) worker->shut_down();
}

/// Calls onProgress with the latest progress. Several reports that JS has not taken yet become one.
class ProgressReporter {
public:
    ProgressReporter() = default;
    ~ProgressReporter() {
        if (function_ != nullptr) napi_release_threadsafe_function(function_, napi_tsfn_release);
    }
    ProgressReporter(const ProgressReporter&) = delete;
    ProgressReporter& operator=(const ProgressReporter&) = delete;

    /// On the JS thread. False when the function cannot be made.
    bool open(Napi::Env env, Napi::Function on_progress, const std::shared_ptr<LoadState>& state) {
        auto* held = new std::shared_ptr<LoadState>(state); // NOLINT: deleted in the finalizer below
        const auto finalize = [](napi_env, void* data, void*) {
            delete static_cast<std::shared_ptr<LoadState>*>(data);
        };
        const napi_status status =
            napi_create_threadsafe_function(env, on_progress, nullptr, Napi::String::New(env, "ingle load"),
                                            1, 1, held, finalize, state.get(), on_report, &function_);
        if (status != napi_ok) delete held;
        return status == napi_ok;
    }

    /// On the thread that loads.
    void report(LoadState& state, float fraction) {
        state.progress.store(fraction);
        if (fraction < reported_ + kProgressStep && fraction < 1) return;
        reported_ = fraction;
        napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
    }

private:
    static void on_report(napi_env env, napi_value function, void* context, void*) {
        if (env == nullptr || function == nullptr) return;
        napi_value fraction = nullptr;
        const double progress = static_cast<LoadState*>(context)->progress.load();
        if (napi_create_double(env, progress, &fraction) == napi_ok)
            call_function(env, function, 1, &fraction);
    }

    napi_threadsafe_function function_ = nullptr;
    float reported_ = -1;
};

} // namespace

Napi::Value load_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::ModelOptions> options = to_model_options(info[0]);
    if (!options) return thrown(env, options.error());
    if (!info[1].IsFunction())
        return thrown(env,
                      {.code = base::Code::invalid_argument, .message = "onProgress is not a function."});
    const auto state = std::make_shared<LoadState>();
    state->workers = options->workers;
    auto teardown = std::make_unique<CleanupHook>(env, on_teardown, state.get());
    auto reporter = std::make_unique<ProgressReporter>();
    if (!reporter->open(env, info[1].As<Napi::Function>(), state))
        return thrown(env, {.code = base::Code::engine_failed, .message = "The load could not be started."});
    Napi::Object load = Napi::Object::New(env);
    load.Set("model", run_async(
                          env,
                          [options = std::move(*options), state, reporter = std::move(reporter),
                           teardown = std::move(teardown)] {
                              const auto progress = [&](float fraction) {
                                  reporter->report(*state, fraction);
                              };
                              return llama_rt::Model::load(options, progress, state->is_aborted);
                          },
                          ModelObject::wrap));
    load.Set("abort",
             Napi::Function::New(env, [state](const Napi::CallbackInfo&) { state->is_aborted.store(true); }));
    return load;
}

} // namespace binding
