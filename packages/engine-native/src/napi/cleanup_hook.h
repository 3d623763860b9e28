// Makes the environment call a function when it ends, as long as the CleanupHook lives. `data` must outlive it. JS thread only.
#pragma once

#include <napi.h>

namespace binding {

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

} // namespace binding
