// Raw Node-API calls where JS may be gone: an environment that is being torn down answers every call with an error,
// and that must not abort the process. Elsewhere node-addon-api's wrappers are used.
#pragma once

#include "base/result.h"

#include <string>

#include <napi.h>

namespace binding {

/// A JS Error with `code` and `details`, made from an engine's error. Null when the environment is going away.
napi_value make_error(napi_env env, const base::Error& error);

/// Throws it into JS; the caller returns at once.
void throw_error(napi_env env, const base::Error& error);

/// The same, as the return value of a call that throws.
Napi::Value thrown(Napi::Env env, const base::Error& error);

/// Calls a JS function from native code. What it throws becomes an uncaught exception, as from a timer.
void call_function(napi_env env, napi_value function, size_t count, const napi_value* arguments);

} // namespace binding
