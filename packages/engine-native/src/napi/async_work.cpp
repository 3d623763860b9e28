#include "napi/async_work.h"

#include <exception>
#include <new>
#include <utility>

namespace napi {

Napi::Value AsyncWork::start(Napi::Env env, std::unique_ptr<AsyncWork> work) {
    napi_value promise = nullptr;
    napi_value name = nullptr;
    if (napi_create_promise(env, &work->deferred_, &promise) != napi_ok ||
        napi_create_string_utf8(env, "ingle", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_async_work(env, nullptr, name, on_execute, on_complete, work.get(), &work->work_) !=
            napi_ok ||
        napi_queue_async_work(env, work->work_) != napi_ok) {
        // An environment that is ending refuses; the work is destroyed without having run.
        if (work->work_ != nullptr) napi_delete_async_work(env, work->work_);
        throw_error(env,
                    {.code = base::Code::engine_failed, .message = "The operation could not be started."});
        return env.Undefined();
    }
    work.release(); // on_complete takes it back
    return {env, promise};
}

void AsyncWork::on_execute(napi_env, void* data) {
    auto* work = static_cast<AsyncWork*>(data);
    // No exception may reach libuv. An allocation may fail in the work, or a thread may not start.
    try {
        work->outcome_ = work->execute();
    } catch (const std::bad_alloc&) {
        work->outcome_ = base::fail(base::Code::out_of_memory, "There is not enough memory for this now.");
    } catch (const std::exception& error) {
        work->outcome_ = base::fail(base::Code::engine_failed, error.what());
    }
}

void AsyncWork::on_complete(napi_env raw_env, napi_status, void* data) {
    std::unique_ptr<AsyncWork> work(static_cast<AsyncWork*>(data));
    const Napi::Env env(raw_env);
    const Napi::HandleScope scope(env);
    work->on_settled(work->outcome_.has_value());
    napi_delete_async_work(env, work->work_);
    if (!work->outcome_) {
        if (napi_value error = make_error(env, work->outcome_.error()); error != nullptr) {
            napi_reject_deferred(env, work->deferred_, error);
        }
        return;
    }
    const Napi::Value value = work->to_value(env);
    napi_value thrown = nullptr;
    bool is_pending = false;
    napi_is_exception_pending(env, &is_pending);
    if (is_pending && napi_get_and_clear_last_exception(env, &thrown) == napi_ok) {
        napi_reject_deferred(env, work->deferred_, thrown);
    } else if (!value.IsEmpty()) {
        napi_resolve_deferred(env, work->deferred_, value);
    }
}

} // namespace napi
