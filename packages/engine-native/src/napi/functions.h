// The functions of index.d.ts and quantize.d.ts that addon.cpp exports, by the file that has them.
#pragma once

#include <napi.h>

namespace binding {

// load.cpp
Napi::Value load_model(const Napi::CallbackInfo& info);

// log_bridge.cpp
Napi::Value set_log_sink(const Napi::CallbackInfo& info);

// measure.cpp
Napi::Value measure_model(const Napi::CallbackInfo& info);

// quantize.cpp
Napi::Value plan_quantization(const Napi::CallbackInfo& info);
Napi::Value quantize_model(const Napi::CallbackInfo& info);
Napi::Value compute_imatrix(const Napi::CallbackInfo& info);

// workers.cpp
Napi::Value connect_worker(const Napi::CallbackInfo& info);
Napi::Value worker_devices(const Napi::CallbackInfo& info);
Napi::Value is_worker_lost(const Napi::CallbackInfo& info);
void lose_worker(const Napi::CallbackInfo& info);
Napi::Value serve_peer(const Napi::CallbackInfo& info);

} // namespace binding
