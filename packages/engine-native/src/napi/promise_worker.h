// One operation on a libuv worker thread, as a promise: Execute there, Result here. Each operation is a small subclass.
#pragma once

#include "base/result.h"
#include "napi/check.h"

#include <memory>

#include <napi.h>

namespace binding {

class PromiseWorker {
public:
    virtual ~PromiseWorker() = default;
    PromiseWorker(const PromiseWorker&) = delete;
    PromiseWorker& operator=(const PromiseWorker&) = delete;

    /// Starts the operation; the worker owns itself until it is done. Returns the promise.
    static Napi::Value start(Napi::Env env, std::unique_ptr<PromiseWorker> worker);

protected:
    PromiseWorker() = default;

    /// On a worker thread: no JS.
    virtual base::Result<void> execute() = 0;

    /// On the JS thread, after execute() succeeded: the promise's value.
    virtual Napi::Value result(Napi::Env env) = 0;

    /// On the JS thread, whether it succeeded or not, just before the promise is settled.
    virtual void settled() {}

private:
    static void on_execute(napi_env env, void* data);
    static void on_complete(napi_env env, napi_status status, void* data);

    base::Result<void> outcome_ = {};
    napi_deferred deferred_ = nullptr;
    napi_async_work work_ = nullptr;
};

} // namespace binding
