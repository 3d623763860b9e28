// What the addon keeps for each JS environment: main thread and every worker have their own.
#pragma once

#include <memory>

#include <napi.h>

namespace binding {

class LogBridge;

struct AddonData {
    Napi::FunctionReference model_class;
    Napi::FunctionReference engine_class;
    /// Null where this environment hears no log.
    std::shared_ptr<LogBridge> log;
};

} // namespace binding
