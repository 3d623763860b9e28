// loadModel() of index.d.ts: a load on a worker thread, with progress and abort.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value load_model(const Napi::CallbackInfo& info);

} // namespace binding
