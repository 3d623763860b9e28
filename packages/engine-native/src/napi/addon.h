// What the addon's files share: the functions that it exports, and its data.
#pragma once

#include "napi/js_function.h"

#include <memory>
#include <string>

#include <napi.h>

namespace napi {

// The functions of seam/model.d.ts, process.d.ts, quantize.d.ts and workers.d.ts that addon.cpp exports, by the file that has them.

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

struct LogLine {
    int level;
    std::string text;
};

/// For one JavaScript environment: the main thread and every worker have their own.
struct AddonData {
    Napi::FunctionReference model_class;
    Napi::FunctionReference engine_class;
    /// Null if this environment has no log sink.
    std::shared_ptr<JsFunction<LogLine>> log;
};

} // namespace napi
