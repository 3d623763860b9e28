// The addon's data for one JavaScript environment: the main thread and every worker have their own.
#pragma once

#include "napi/js_function.h"

#include <memory>
#include <string>

#include <napi.h>

namespace binding {

struct LogLine {
    int level;
    std::string text;
};

struct AddonData {
    Napi::FunctionReference model_class;
    Napi::FunctionReference engine_class;
    /// Null if this environment has no log sink.
    std::shared_ptr<JsFunction<LogLine>> log;
};

} // namespace binding
