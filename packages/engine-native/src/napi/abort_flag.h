// Aborts work on a libuv thread: a flag that an abort function of JavaScript and the environment's teardown set.
#pragma once

#include "napi/cleanup_hook.h"

#include <atomic>
#include <memory>

#include <napi.h>

namespace binding {

using AbortFlag = std::shared_ptr<std::atomic<bool>>;

/// Aborts the work at exit: Node.js waits for running work, which may take long.
inline std::unique_ptr<CleanupHook> abort_on_teardown(napi_env env, const AbortFlag& is_aborted) {
    const auto abort = [](void* data) { static_cast<std::atomic<bool>*>(data)->store(true); };
    return std::make_unique<CleanupHook>(env, abort, is_aborted.get());
}

inline Napi::Function abort_function(Napi::Env env, const AbortFlag& is_aborted) {
    return Napi::Function::New(env, [is_aborted](const Napi::CallbackInfo&) { is_aborted->store(true); });
}

} // namespace binding
