// Delivers engine events to JavaScript: they are collected in one guarded vector, with at most one pending wake-up of the JS
// thread, so that a step costs one crossing however many sequences it advanced.
#pragma once

#include "napi/event_output.h"
#include "napi/js_function.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <napi.h>

namespace napi {

class EventBridge final : public EventOutput {
public:
    /// `on_events` is called on the JS thread with an array of events.
    static base::Result<std::shared_ptr<EventBridge>> create(Napi::Env env, const Napi::Value& on_events);

    void post(std::vector<engine::Event>&& events, const engine::Stats& stats) override;

    /// Requests in flight keep the process alive.
    void request_started() override;
    void close() override;

private:
    EventBridge() = default;
    void deliver(napi_env env, napi_value function);

    // Guarded by mutex_.
    std::mutex mutex_;
    std::vector<engine::Event> events_;
    bool is_wake_pending_ = false;

    // JS thread only.
    int64_t requests_in_flight_ = 0;

    /// Set by create().
    std::optional<JsFunction<Signal>> wake_;
};

} // namespace napi
