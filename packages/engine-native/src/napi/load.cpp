#include "napi/load.h"

#include "llama/model/model.h"
#include "napi/check.h"
#include "napi/cleanup_hook.h"
#include "napi/convert.h"
#include "napi/model_object.h"
#include "napi/promise_worker.h"

#include <atomic>
#include <memory>
#include <utility>

namespace binding {

namespace {

/// Progress is reported in steps of this share, so that JS is not woken for every tensor.
constexpr float kProgressStep = 0.01F;

/// What the worker, its abort function and the environment's teardown share.
struct LoadState {
    std::atomic<bool> is_aborted = false;
    std::atomic<float> progress = 0;
    /// Constant after construction.
    llama_rt::WorkerConnections workers = {};
};

class LoadWorker final : public PromiseWorker {
public:
    LoadWorker(napi_env env, llama_rt::ModelOptions options, std::shared_ptr<LoadState> state)
        : env_(env),
          options_(std::move(options)),
          state_(std::move(state)),
          teardown_(env, on_teardown, state_.get()) {}

    /// Also of a worker that could not be started.
    ~LoadWorker() override {
        if (report_ != nullptr) napi_release_threadsafe_function(report_, napi_tsfn_release);
    }

    /// False when the function cannot be made.
    bool report_to(Napi::Function on_progress) {
        auto* state = new std::shared_ptr<LoadState>(state_); // NOLINT: deleted in the finalizer below
        const auto finalize = [](napi_env, void* data, void*) {
            delete static_cast<std::shared_ptr<LoadState>*>(data);
        };
        const napi_status status =
            napi_create_threadsafe_function(env_, on_progress, nullptr, Napi::String::New(env_, "ingle load"),
                                            1, 1, state, finalize, state_.get(), on_report, &report_);
        if (status != napi_ok) delete state;
        return status == napi_ok;
    }

private:
    base::Result<void> execute() override {
        float reported = -1;
        const auto progress = [&](float fraction) {
            state_->progress.store(fraction);
            if (fraction < reported + kProgressStep && fraction < 1) return;
            reported = fraction;
            napi_call_threadsafe_function(report_, nullptr, napi_tsfn_nonblocking);
        };
        auto model = llama_rt::Model::load(options_, progress, state_->is_aborted);
        if (!model) return std::unexpected(model.error());
        model_ = std::move(*model);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return ModelObject::wrap(env, std::move(model_)); }

    /// Node waits for running work before it ends; a load of minutes must not hold it up.
    static void on_teardown(void* data) {
        auto* state = static_cast<LoadState*>(data);
        state->is_aborted.store(true);
        for (const auto& worker : state->workers) worker->shut_down();
    }

    static void on_report(napi_env env, napi_value function, void* context, void*) {
        if (env == nullptr || function == nullptr) return;
        napi_value fraction = nullptr;
        const double progress = static_cast<LoadState*>(context)->progress.load();
        if (napi_create_double(env, progress, &fraction) == napi_ok)
            call_function(env, function, 1, &fraction);
    }

    napi_env env_;
    llama_rt::ModelOptions options_;
    std::shared_ptr<LoadState> state_;
    /// After the state, so that it goes first.
    CleanupHook teardown_;
    napi_threadsafe_function report_ = nullptr;
    std::shared_ptr<const llama_rt::Model> model_;
};

} // namespace

Napi::Value load_model(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::ModelOptions> options = to_model_options(info[0]);
    if (!options || !info[1].IsFunction()) {
        throw_error(env, options ? base::Error{.code = base::Code::invalid_argument,
                                               .message = "onProgress is not a function."}
                                 : options.error());
        return env.Undefined();
    }
    auto state = std::make_shared<LoadState>();
    state->workers = options->workers;
    auto worker = std::make_unique<LoadWorker>(env, std::move(*options), state);
    if (!worker->report_to(info[1].As<Napi::Function>())) {
        throw_error(env, {.code = base::Code::engine_failed, .message = "The load could not be started."});
        return env.Undefined();
    }
    Napi::Object load = Napi::Object::New(env);
    load.Set("model", PromiseWorker::start(env, std::move(worker)));
    load.Set("abort",
             Napi::Function::New(env, [state](const Napi::CallbackInfo&) { state->is_aborted.store(true); }));
    return load;
}

} // namespace binding
