// measureModel() of index.d.ts: computes the memory that a model file needs, on a libuv thread.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value measure_model(const Napi::CallbackInfo& info);

} // namespace binding
