// planQuantization(), quantizeModel() and computeImatrix() of seam/quantize.d.ts: work on model files, on a libuv thread.
#include "llama/quantize/quantize.h"

#include "llama/quantize/imatrix.h"
#include "napi/addon.h"
#include "napi/async_work.h"
#include "napi/js_function.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <cstdint>
#include <string>
#include <utility>

namespace napi {

namespace {

struct Chunks {
    int32_t done;
    int32_t total;
};

void deliver_name(napi_env env, napi_value function, const std::string& name) {
    call_function(env, function, {Writer(env).write(name)});
}

void deliver_chunks(napi_env env, napi_value function, const Chunks& chunks) {
    const Writer writer(env);
    call_function(env, function, {writer.write(chunks.done), writer.write(chunks.total)});
}

} // namespace

Napi::Value plan_quantization(const Napi::CallbackInfo& info) {
    auto options = read<llama::QuantizeOptions>(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    return run_async(
        info.Env(), [options = std::move(*options)] { return llama::plan_quantization(options); }, to_js);
}

Napi::Value quantize_model(const Napi::CallbackInfo& info) {
    auto options = read<llama::QuantizeOptions>(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    auto on_tensor = JsFunction<std::string>::create(info.Env(), info[1], "onTensor", 0, deliver_name);
    if (!on_tensor) return thrown(info.Env(), on_tensor.error());
    return run_async(
        info.Env(),
        [options = std::move(*options), on_tensor = std::move(*on_tensor)]() mutable {
            return llama::quantize(options, [&](const std::string& name) { on_tensor.send(name); });
        },
        to_undefined);
}

Napi::Value compute_imatrix(const Napi::CallbackInfo& info) {
    auto options = read<llama::ImatrixOptions>(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    auto on_chunk = JsFunction<Chunks>::create(info.Env(), info[1], "onChunk", 0, deliver_chunks);
    if (!on_chunk) return thrown(info.Env(), on_chunk.error());
    return run_async(
        info.Env(),
        [options = std::move(*options), on_chunk = std::move(*on_chunk)]() mutable {
            return llama::compute_imatrix(
                options, [&](int32_t done, int32_t total) { on_chunk.send({.done = done, .total = total}); });
        },
        to_js);
}

} // namespace napi
