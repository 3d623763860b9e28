#include "napi/promise_worker.h"

#include <exception>
#include <new>
#include <utility>

namespace binding {

Napi::Value PromiseWorker::start(Napi::Env env, std::unique_ptr<PromiseWorker> worker) {
    napi_value promise = nullptr;
    napi_value name = nullptr;
    if (napi_create_promise(env, &worker->deferred_, &promise) != napi_ok ||
        napi_create_string_utf8(env, "ingle", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_async_work(env, nullptr, name, on_execute, on_complete, worker.get(), &worker->work_) !=
            napi_ok ||
        napi_queue_async_work(env, worker->work_) != napi_ok) {
        // An environment that is ending refuses. The worker goes as it came, and what it holds with it.
        if (worker->work_ != nullptr) napi_delete_async_work(env, worker->work_);
        throw_error(env,
                    {.code = base::Code::engine_failed, .message = "The operation could not be started."});
        return env.Undefined();
    }
    worker.release(); // on_complete takes it back
    return {env, promise};
}

void PromiseWorker::on_execute(napi_env, void* data) {
    auto* worker = static_cast<PromiseWorker*>(data);
    // Above this there is only libuv. An allocation may fail in it, or a thread not be had.
    try {
        worker->outcome_ = worker->execute();
    } catch (const std::bad_alloc&) {
        worker->outcome_ = base::fail(base::Code::out_of_memory, "There is not enough memory for this now.");
    } catch (const std::exception& error) {
        worker->outcome_ = base::fail(base::Code::engine_failed, error.what());
    }
}

void PromiseWorker::on_complete(napi_env raw_env, napi_status, void* data) {
    std::unique_ptr<PromiseWorker> worker(static_cast<PromiseWorker*>(data));
    const Napi::Env env(raw_env);
    const Napi::HandleScope scope(env);
    worker->settled();
    napi_delete_async_work(env, worker->work_);
    if (!worker->outcome_) {
        if (napi_value error = make_error(env, worker->outcome_.error()); error != nullptr) {
            napi_reject_deferred(env, worker->deferred_, error);
        }
        return;
    }
    const Napi::Value value = worker->result(env);
    napi_value thrown = nullptr;
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (is_pending && napi_get_and_clear_last_exception(env, &thrown) == napi_ok) {
        napi_reject_deferred(env, worker->deferred_, thrown);
    } else if (!value.IsEmpty()) {
        napi_resolve_deferred(env, worker->deferred_, value);
    }
}

} // namespace binding
