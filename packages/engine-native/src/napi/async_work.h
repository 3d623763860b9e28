// Runs work on a libuv thread and returns a promise: run_async(env, work, convert). `work` computes a Result there, without
// JavaScript; `convert` turns it into the promise's value on the JS thread.
#pragma once

#include "base/result.h"
#include "napi/raw_calls.h"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <napi.h>

namespace napi {

/// The part of run_async() that does not depend on its callers' types.
class AsyncWork {
public:
    virtual ~AsyncWork() = default;
    AsyncWork(const AsyncWork&) = delete;
    AsyncWork& operator=(const AsyncWork&) = delete;

    /// Starts the work, which owns itself until it is done. Returns the promise.
    static Napi::Value start(Napi::Env env, std::unique_ptr<AsyncWork> work);

protected:
    AsyncWork() = default;

private:
    virtual base::Result<void> execute() = 0;
    virtual void on_settled(bool has_succeeded) = 0;
    virtual Napi::Value to_value(Napi::Env env) = 0;

    static void on_execute(napi_env env, void* data);
    static void on_complete(napi_env env, napi_status status, void* data);

    base::Result<void> outcome_ = {};
    napi_deferred deferred_ = nullptr;
    napi_async_work work_ = nullptr;
};

template <class Work, class Convert, class Close>
class AsyncCall final : public AsyncWork {
public:
    AsyncCall(Work work, Convert convert, Close close)
        : work_(std::move(work)), convert_(std::move(convert)), close_(std::move(close)) {}

private:
    using Value = typename std::invoke_result_t<Work&>::value_type;
    static constexpr bool kHasValue = !std::is_void_v<Value>;

    base::Result<void> execute() override {
        auto result = work_();
        if (!result) return std::unexpected(std::move(result.error()));
        if constexpr (kHasValue) value_.emplace(std::move(*result));
        return {};
    }

    void on_settled(bool has_succeeded) override { close_(has_succeeded); }

    Napi::Value to_value(Napi::Env env) override {
        if constexpr (kHasValue) return convert_(env, std::move(*value_));
        else return convert_(env);
    }

    Work work_;
    Convert convert_;
    Close close_;
    std::optional<std::conditional_t<kHasValue, Value, std::monostate>> value_;
};

/// `work()` returns a base::Result<T> on a libuv thread; `convert(env, T&&)`, or `convert(env)` where T is void, returns the
/// promise's value. `close(has_succeeded)` runs on the JS thread just before the promise is settled. What the three have captured is
/// destroyed on the JS thread. An error, or an exception in `work`, rejects the promise.
template <class Work, class Convert, class Close>
Napi::Value run_async(Napi::Env env, Work work, Convert convert, Close close) {
    return AsyncWork::start(env, std::make_unique<AsyncCall<Work, Convert, Close>>(
                                     std::move(work), std::move(convert), std::move(close)));
}

template <class Work, class Convert>
Napi::Value run_async(Napi::Env env, Work work, Convert convert) {
    return run_async(env, std::move(work), std::move(convert), [](bool) {});
}

inline Napi::Value to_undefined(Napi::Env env) {
    return env.Undefined();
}

} // namespace napi
