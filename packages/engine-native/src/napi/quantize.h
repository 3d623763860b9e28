// planQuantization(), quantizeModel() and computeImatrix() of quantize.d.ts: work on model files, on a libuv thread.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value plan_quantization(const Napi::CallbackInfo& info);
Napi::Value quantize_model(const Napi::CallbackInfo& info);
Napi::Value compute_imatrix(const Napi::CallbackInfo& info);

} // namespace binding
