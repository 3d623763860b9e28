// setLogSink() of index.d.ts: sends llama.cpp's log lines to a JavaScript function.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value set_log_sink(const Napi::CallbackInfo& info);

} // namespace binding
