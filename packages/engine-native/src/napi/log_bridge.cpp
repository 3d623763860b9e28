#include "napi/log_bridge.h"

#include "llama/backend.h"
#include "napi/check.h"

#include <memory>
#include <string>
#include <utility>

namespace binding {

namespace {

/// Lines that may wait for JS; more are dropped rather than kept without bound.
constexpr size_t kLinesMax = 1000;

struct Line {
    int level;
    std::string text;
};

/// Owns the threadsafe function; the log's sink holds it, so that setting another sink releases it.
class LogBridge {
public:
    explicit LogBridge(napi_threadsafe_function function) : function_(function) {}
    ~LogBridge() { napi_release_threadsafe_function(function_, napi_tsfn_release); }
    LogBridge(const LogBridge&) = delete;
    LogBridge& operator=(const LogBridge&) = delete;

    void write(int level, const char* text) {
        auto line = std::make_unique<Line>(Line{.level = level, .text = text});
        if (napi_call_threadsafe_function(function_, line.get(), napi_tsfn_nonblocking) == napi_ok)
            line.release();
    }

    static void on_line(napi_env env, napi_value function, void*, void* data) {
        const std::unique_ptr<Line> line(static_cast<Line*>(data));
        if (env == nullptr || function == nullptr) return;
        napi_value arguments[2] = {nullptr, nullptr};
        if (napi_create_int32(env, line->level, &arguments[0]) != napi_ok) return;
        if (napi_create_string_utf8(env, line->text.data(), line->text.size(), &arguments[1]) != napi_ok)
            return;
        call_function(env, function, 2, arguments);
    }

private:
    napi_threadsafe_function function_;
};

void drop_sink(void*) {
    llama_rt::set_log_sink(nullptr);
}

} // namespace

Napi::Value set_log_sink(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    napi_remove_env_cleanup_hook(env, drop_sink, nullptr);
    if (!info[0].IsFunction()) {
        llama_rt::set_log_sink(nullptr);
        return env.Undefined();
    }
    napi_threadsafe_function function = nullptr;
    const napi_status status =
        napi_create_threadsafe_function(env, info[0], nullptr, Napi::String::New(env, "ingle log"), kLinesMax,
                                        1, nullptr, nullptr, nullptr, LogBridge::on_line, &function);
    if (status != napi_ok) {
        throw_error(env, {.code = base::Code::engine_failed, .message = "The log could not be connected."});
        return env.Undefined();
    }
    napi_unref_threadsafe_function(env, function);
    napi_add_env_cleanup_hook(env, drop_sink, nullptr);
    llama_rt::set_log_sink([bridge = std::make_shared<LogBridge>(function)](int level, const char* text) {
        bridge->write(level, text);
    });
    return env.Undefined();
}

} // namespace binding
