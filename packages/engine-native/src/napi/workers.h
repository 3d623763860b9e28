// connectWorker() and servePeer() of index.d.ts: connections to workers on other machines, and serving as one.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value connect_worker(const Napi::CallbackInfo& info);
Napi::Value worker_devices(const Napi::CallbackInfo& info);
Napi::Value is_worker_lost(const Napi::CallbackInfo& info);
void lose_worker(const Napi::CallbackInfo& info);
Napi::Value serve_peer(const Napi::CallbackInfo& info);

} // namespace binding
