// loadModel() of index.d.ts: loads on a libuv thread, with progress and abort.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value load_model(const Napi::CallbackInfo& info);

} // namespace binding
