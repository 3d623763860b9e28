// The calls of index.d.ts about other machines: connections to workers, and serving as one.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value connect_worker(const Napi::CallbackInfo& info);
Napi::Value worker_devices(const Napi::CallbackInfo& info);
Napi::Value is_worker_lost(const Napi::CallbackInfo& info);
void lose_worker(const Napi::CallbackInfo& info);
Napi::Value serve_peer(const Napi::CallbackInfo& info);

} // namespace binding
