#include "napi/event_bridge.h"

#include "napi/raw_calls.h"
#include "napi/write.h"

#include <iterator>
#include <utility>

namespace napi {

base::Result<std::shared_ptr<EventBridge>> EventBridge::create(Napi::Env env, const Napi::Value& on_events) {
    std::shared_ptr<EventBridge> bridge(new EventBridge());
    // The function owns the bridge until it is closed: events are still delivered when the engine's object is gone.
    const auto deliver = [bridge](napi_env to, napi_value function, Signal) {
        bridge->deliver(to, function);
    };
    auto wake = JsFunction<Signal>::create(env, on_events, "onEvents", 1, deliver);
    if (!wake) return std::unexpected(wake.error());
    bridge->wake_.emplace(std::move(*wake));
    bridge->wake_->keep_alive(false);
    return bridge;
}

void EventBridge::post(std::vector<engine::Event>&& events, const engine::Stats&) {
    std::lock_guard lock(mutex_);
    events_.insert(events_.end(), std::make_move_iterator(events.begin()),
                   std::make_move_iterator(events.end()));
    if (!std::exchange(is_wake_pending_, true)) wake_->send({});
}

void EventBridge::request_started() {
    if (requests_in_flight_++ == 0) wake_->keep_alive(true);
}

void EventBridge::close() {
    wake_->close();
}

void EventBridge::deliver(napi_env env, napi_value function) {
    std::vector<engine::Event> events;
    {
        std::lock_guard lock(mutex_);
        events.swap(events_);
        is_wake_pending_ = false;
    }
    napi_value array = nullptr;
    if (napi_create_array_with_length(env, events.size(), &array) != napi_ok) return;
    for (uint32_t i = 0; i < events.size(); ++i) {
        if (engine::ends_request(events[i])) requests_in_flight_ -= 1;
        napi_value event = Writer(env).write(events[i]);
        if (event == nullptr || napi_set_element(env, array, i, event) != napi_ok) return;
    }
    if (requests_in_flight_ == 0) wake_->keep_alive(false);
    if (!events.empty()) call_function(env, function, {array});
}

} // namespace napi
