// setLogSink() of seam/process.d.ts: sends llama.cpp's log lines to a JavaScript function.
#include "llama/backend/backend.h"
#include "napi/addon.h"
#include "napi/raw_calls.h"
#include "napi/write.h"

#include <memory>
#include <utility>

namespace napi {

namespace {

/// Lines that may wait for JavaScript. Later ones are dropped: the log must not grow without bound.
constexpr size_t kLinesMax = 1000;

void deliver(napi_env env, napi_value sink, const LogLine& line) {
    const Writer writer(env);
    call_function(env, sink, {writer.write(line.level), writer.write(line.text)});
}

} // namespace

Napi::Value set_log_sink(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto* data = env.GetInstanceData<AddonData>();
    if (data->log != nullptr) std::exchange(data->log, nullptr)->close();
    if (info[0].IsNull()) {
        llama::set_log_sink(nullptr);
        return env.Undefined();
    }
    auto sink = JsFunction<LogLine>::create(env, info[0], "sink", kLinesMax, deliver);
    if (!sink) return thrown(env, sink.error());
    sink->keep_alive(false);
    data->log = std::make_shared<JsFunction<LogLine>>(std::move(*sink));
    // Only the environment owns it: the process's log sink is a static object, destroyed when the event loop is already gone.
    llama::set_log_sink([owned = std::weak_ptr(data->log)](int level, const char* text) {
        if (const auto log = owned.lock()) log->send({.level = level, .text = text});
    });
    return env.Undefined();
}

} // namespace napi
