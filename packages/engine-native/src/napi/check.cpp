#include "napi/check.h"

namespace binding {

namespace {

void set_number(napi_env env, napi_value object, const char* name, int64_t number) {
    napi_value value = nullptr;
    if (napi_create_int64(env, number, &value) == napi_ok) napi_set_named_property(env, object, name, value);
}

napi_value make_details(napi_env env, const base::Error& error) {
    napi_value details = nullptr;
    if (napi_create_object(env, &details) != napi_ok) return nullptr;
    if (error.lengths.has_value()) {
        set_number(env, details, "promptTokens", error.lengths->prompt_tokens);
        set_number(env, details, "contextLength", error.lengths->context_length);
    }
    napi_value param = nullptr;
    if (!error.param.empty() &&
        napi_create_string_utf8(env, error.param.c_str(), error.param.size(), &param) == napi_ok)
        napi_set_named_property(env, details, "param", param);
    return details;
}

} // namespace

napi_value make_error(napi_env env, const base::Error& error) {
    napi_value code = nullptr;
    napi_value message = nullptr;
    napi_value object = nullptr;
    if (napi_create_string_utf8(env, base::code_name(error.code), NAPI_AUTO_LENGTH, &code) != napi_ok ||
        napi_create_string_utf8(env, error.message.c_str(), error.message.size(), &message) != napi_ok ||
        napi_create_error(env, code, message, &object) != napi_ok) {
        return nullptr;
    }
    if (error.lengths.has_value() || !error.param.empty()) {
        if (napi_value details = make_details(env, error); details != nullptr)
            napi_set_named_property(env, object, "details", details);
    }
    return object;
}

void throw_error(napi_env env, const base::Error& error) {
    if (napi_value object = make_error(env, error); object != nullptr) napi_throw(env, object);
}

Napi::Value thrown(Napi::Env env, const base::Error& error) {
    throw_error(env, error);
    return env.Undefined();
}

void call_function(napi_env env, napi_value function, size_t count, const napi_value* arguments) {
    napi_value receiver = nullptr;
    if (napi_get_undefined(env, &receiver) != napi_ok) return;
    napi_value result = nullptr;
    if (napi_call_function(env, receiver, function, count, arguments, &result) != napi_pending_exception)
        return;
    napi_value thrown = nullptr;
    if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
}

} // namespace binding
