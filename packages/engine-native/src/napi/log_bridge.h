// setLogSink() of index.d.ts: llama.cpp's log lines, handed to JS for `--verbose` and for finding out why.
#pragma once

#include <napi.h>

namespace binding {

Napi::Value set_log_sink(const Napi::CallbackInfo& info);

} // namespace binding
