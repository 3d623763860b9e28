// What happens to native work when the JavaScript environment ends.
#pragma once

#include <atomic>
#include <memory>

#include <napi.h>

namespace napi {

/// Makes the environment call a function when it ends, as long as the CleanupHook lives. `data` must outlive it. JS thread only.
class CleanupHook {
public:
    CleanupHook(napi_env env, void (*hook)(void*), void* data) : env_(env), hook_(hook), data_(data) {
        napi_add_env_cleanup_hook(env_, hook_, data_);
    }
    ~CleanupHook() { napi_remove_env_cleanup_hook(env_, hook_, data_); }
    CleanupHook(const CleanupHook&) = delete;
    CleanupHook& operator=(const CleanupHook&) = delete;

private:
    napi_env env_;
    void (*hook_)(void*);
    void* data_;
};

/// Aborts work on a libuv thread: an abort function of JavaScript and the end of the environment set it.
using AbortFlag = std::shared_ptr<std::atomic<bool>>;

/// Aborts the work at exit: Node.js waits for running work, which may take long.
inline std::unique_ptr<CleanupHook> abort_on_teardown(napi_env env, const AbortFlag& is_aborted) {
    const auto abort = [](void* data) { static_cast<std::atomic<bool>*>(data)->store(true); };
    return std::make_unique<CleanupHook>(env, abort, is_aborted.get());
}

inline Napi::Function abort_function(Napi::Env env, const AbortFlag& is_aborted) {
    return Napi::Function::New(env, [is_aborted](const Napi::CallbackInfo&) { is_aborted->store(true); });
}

} // namespace napi
