// What the addon keeps for each JS environment: main thread and every worker have their own.
#pragma once

#include <napi.h>

namespace binding {

struct AddonData {
    Napi::FunctionReference model_class;
    Napi::FunctionReference engine_class;
};

} // namespace binding
