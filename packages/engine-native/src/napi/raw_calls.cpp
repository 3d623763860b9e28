#include "napi/raw_calls.h"

#include "napi/write.h"

#include <algorithm>

namespace napi {

namespace {

napi_value make_details(const Writer& writer, const base::Error& error) {
    napi_value details = writer.object();
    if (error.lengths) writer.write_fields(details, *error.lengths);
    if (!error.param.empty()) writer.set(details, "param", writer.write(error.param));
    return details;
}

} // namespace

napi_value make_error(napi_env env, const base::Error& error) {
    const Writer writer(env);
    napi_value code = writer.write(error.code);
    napi_value message = writer.write(error.message);
    napi_value object = nullptr;
    if (code == nullptr || message == nullptr || napi_create_error(env, code, message, &object) != napi_ok)
        return nullptr;
    if (error.lengths || !error.param.empty()) writer.set(object, "details", make_details(writer, error));
    return object;
}

void throw_error(napi_env env, const base::Error& error) {
    if (napi_value object = make_error(env, error); object != nullptr) napi_throw(env, object);
}

Napi::Value thrown(Napi::Env env, const base::Error& error) {
    throw_error(env, error);
    return env.Undefined();
}

void call_function(napi_env env, napi_value function, std::initializer_list<napi_value> arguments) {
    napi_value receiver = nullptr;
    const bool is_made = std::ranges::find(arguments, nullptr) == arguments.end();
    if (!is_made || napi_get_undefined(env, &receiver) != napi_ok) return;
    napi_value result = nullptr;
    if (napi_call_function(env, receiver, function, arguments.size(), arguments.begin(), &result) !=
        napi_pending_exception)
        return;
    napi_value thrown = nullptr;
    if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
}

} // namespace napi
