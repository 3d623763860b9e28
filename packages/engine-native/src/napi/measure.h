// measureModel of index.d.ts: what a model file will take, found on a worker thread.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value measure_model(const Napi::CallbackInfo& info);

} // namespace binding
