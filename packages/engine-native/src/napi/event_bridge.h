// Engine events on their way to JS: collected in one guarded vector, with at most one wake-up of the JS thread pending,
// so that a turn costs one crossing however many sequences it advanced.
#pragma once

#include "engine/events.h"

#include <memory>
#include <mutex>
#include <vector>

#include <napi.h>

namespace binding {

class EventBridge {
public:
    /// `on_events` is called on the JS thread with an array of events.
    static base::Result<std::shared_ptr<EventBridge>> create(Napi::Env env, Napi::Function on_events);

    ~EventBridge() = default;
    EventBridge(const EventBridge&) = delete;
    EventBridge& operator=(const EventBridge&) = delete;

    /// Any thread. Dropped after close().
    void post(std::vector<engine::Event>&& events);

    /// JS thread. While requests are out, the process stays alive for their answers; otherwise it may end.
    void request_started();

    /// JS thread, idempotent: hands over what is left and lets go of the function.
    void close();

private:
    EventBridge() = default;
    static void on_wake(napi_env env, napi_value function, void* context, void* data);
    void deliver(napi_env env, napi_value function);

    // Guarded by mutex_.
    std::mutex mutex_;
    std::vector<engine::Event> events_;
    bool is_wake_pending_ = false;
    bool is_closed_ = false;

    // JS thread only.
    int64_t requests_out_ = 0;
    napi_env env_ = nullptr;
    napi_threadsafe_function wake_ = nullptr;
};

} // namespace binding
