#include "napi/log_bridge.h"

#include "llama/backend/backend.h"
#include "napi/addon_data.h"
#include "napi/check.h"

#include <memory>
#include <mutex>
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

} // namespace

/// A JS function that hears the log. Any thread writes to it, until its environment ends or sets another.
class LogBridge {
public:
    explicit LogBridge(napi_threadsafe_function function) : function_(function) {}
    LogBridge(const LogBridge&) = delete;
    LogBridge& operator=(const LogBridge&) = delete;

    void write(int level, const char* text) {
        auto line = std::make_unique<Line>(Line{.level = level, .text = text});
        // Under the lock, so that close() cannot let go of the function in between. It only queues.
        std::lock_guard lock(mutex_);
        if (function_ != nullptr &&
            napi_call_threadsafe_function(function_, line.get(), napi_tsfn_nonblocking) == napi_ok)
            line.release();
    }

    /// JS thread: after it nothing is heard.
    void close() {
        std::lock_guard lock(mutex_);
        napi_release_threadsafe_function(std::exchange(function_, nullptr), napi_tsfn_release);
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
    std::mutex mutex_;
    napi_threadsafe_function function_; // guarded by mutex_
};

namespace {

void close_log(void* bridge) {
    static_cast<LogBridge*>(bridge)->close();
}

} // namespace

Napi::Value set_log_sink(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto* data = env.GetInstanceData<AddonData>();
    if (data->log != nullptr) {
        napi_remove_env_cleanup_hook(env, close_log, data->log.get());
        std::exchange(data->log, nullptr)->close();
    }
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
    data->log = std::make_shared<LogBridge>(function);
    napi_add_env_cleanup_hook(env, close_log, data->log.get());
    llama_rt::set_log_sink([bridge = data->log](int level, const char* text) { bridge->write(level, text); });
    return env.Undefined();
}

} // namespace binding
