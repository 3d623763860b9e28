// Throws errors and calls functions in JavaScript through raw Node-API calls: in an environment that is being torn down, every
// call fails, which must not abort the process.
#pragma once

#include "base/result.h"

#include <initializer_list>

#include <napi.h>

namespace napi {

/// A JavaScript Error with `code` and `details`. Null if the environment is being torn down.
napi_value make_error(napi_env env, const base::Error& error);

/// Throws it in JavaScript, once the caller returns.
void throw_error(napi_env env, const base::Error& error);

/// Throws it in JavaScript, and returns the empty value that a throwing function must return.
Napi::Value thrown(Napi::Env env, const base::Error& error);

/// Calls a JavaScript function from native code, unless an argument is null. What it throws becomes an uncaught exception, as from a
/// timer.
void call_function(napi_env env, napi_value function, std::initializer_list<napi_value> arguments);

} // namespace napi
