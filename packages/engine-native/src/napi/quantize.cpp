#include "napi/quantize.h"

#include "llama/quantize/imatrix.h"
#include "llama/quantize/quantize.h"
#include "napi/async_work.h"
#include "napi/check.h"
#include "napi/convert.h"
#include "napi/reporter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace binding {

namespace {

struct Chunks {
    int32_t done;
    int32_t total;
};

bool write_name(napi_env env, const std::string& name, napi_value* arguments) {
    return napi_create_string_utf8(env, name.data(), name.size(), arguments) == napi_ok;
}

bool write_chunks(napi_env env, const Chunks& chunks, napi_value* arguments) {
    return napi_create_int32(env, chunks.done, &arguments[0]) == napi_ok &&
           napi_create_int32(env, chunks.total, &arguments[1]) == napi_ok;
}

/// Opens the reporter to the call's second argument; false with a JS error thrown.
template <class Reports>
bool open(const Napi::CallbackInfo& info, Reports& reporter) {
    if (!info[1].IsFunction()) {
        throw_error(info.Env(), {.code = base::Code::invalid_argument,
                                 .message = "The second argument is not a function."});
        return false;
    }
    if (reporter.open(info.Env(), info[1].As<Napi::Function>())) return true;
    throw_error(info.Env(), {.code = base::Code::engine_failed, .message = "The work could not be started."});
    return false;
}

} // namespace

Napi::Value plan_quantization(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::QuantizeOptions> options = to_quantize_options(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    return run_async(
        info.Env(), [options = std::move(*options)] { return llama_rt::plan_quantization(options); },
        [](Napi::Env env, double bytes) { return Napi::Number::New(env, bytes); });
}

Napi::Value quantize_model(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::QuantizeOptions> options = to_quantize_options(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    const auto reporter = std::make_shared<Reporter<std::string, 1, write_name>>();
    if (!open(info, *reporter)) return info.Env().Undefined();
    return run_async(
        info.Env(),
        [options = std::move(*options), reporter] {
            return llama_rt::quantize(options, [&](const std::string& name) { reporter->send(name); });
        },
        to_undefined, [reporter](bool) { reporter->close(); });
}

Napi::Value compute_imatrix(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::ImatrixOptions> options = to_imatrix_options(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    const auto reporter = std::make_shared<Reporter<Chunks, 2, write_chunks>>();
    if (!open(info, *reporter)) return info.Env().Undefined();
    return run_async(
        info.Env(),
        [options = std::move(*options), reporter] {
            return llama_rt::compute_imatrix(options, [&](int32_t done, int32_t total) {
                reporter->send({.done = done, .total = total});
            });
        },
        from_imatrix, [reporter](bool) { reporter->close(); });
}

} // namespace binding
