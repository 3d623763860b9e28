#include "napi/event_bridge.h"

#include "napi/check.h"
#include "napi/convert.h"

#include <iterator>
#include <utility>

namespace binding {

base::Result<std::shared_ptr<EventBridge>> EventBridge::create(Napi::Env env, Napi::Function on_events) {
    std::shared_ptr<EventBridge> bridge(new EventBridge());
    bridge->env_ = env;
    // The wake-up keeps the bridge alive until it is finalized, whatever the engine's object does.
    auto* owner = new std::shared_ptr<EventBridge>(bridge); // NOLINT: deleted in the finalizer below
    const auto finalize = [](napi_env, void* data, void*) {
        delete static_cast<std::shared_ptr<EventBridge>*>(data);
    };
    const Napi::String name = Napi::String::New(env, "ingle events");
    // Queue of 1: one wake-up pending at most, and the vector holds the rest.
    const napi_status status = napi_create_threadsafe_function(
        env, on_events, nullptr, name, 1, 1, owner, finalize, bridge.get(), on_wake, &bridge->wake_);
    if (status != napi_ok) {
        delete owner;
        return base::fail(base::Code::engine_failed,
                          "The bridge from the engine to JavaScript could not be made.");
    }
    napi_unref_threadsafe_function(env, bridge->wake_);
    return bridge;
}

void EventBridge::post(std::vector<engine::Event>&& events) {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    events_.insert(events_.end(), std::make_move_iterator(events.begin()),
                   std::make_move_iterator(events.end()));
    if (std::exchange(is_wake_pending_, true)) return;
    // Under the lock, so that close() cannot release the function in between. It only queues; it never calls JS.
    napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking);
}

void EventBridge::request_started() {
    if (requests_out_++ == 0) napi_ref_threadsafe_function(env_, wake_);
}

void EventBridge::close() {
    {
        std::lock_guard lock(mutex_);
        if (std::exchange(is_closed_, true)) return;
    }
    napi_release_threadsafe_function(wake_, napi_tsfn_release);
}

void EventBridge::on_wake(napi_env env, napi_value function, void* context, void*) {
    // Null when the environment is being torn down: nobody is left to be told.
    if (env == nullptr || function == nullptr) return;
    static_cast<EventBridge*>(context)->deliver(env, function);
}

void EventBridge::deliver(napi_env env, napi_value function) {
    std::vector<engine::Event> events;
    bool is_closed = false;
    {
        std::lock_guard lock(mutex_);
        events.swap(events_);
        is_wake_pending_ = false;
        is_closed = is_closed_;
    }
    napi_value array = nullptr;
    if (napi_create_array_with_length(env, events.size(), &array) != napi_ok) return;
    for (uint32_t i = 0; i < events.size(); ++i) {
        if (engine::ends_request(events[i])) requests_out_ -= 1;
        napi_value event = from_event(env, events[i]);
        if (event == nullptr || napi_set_element(env, array, i, event) != napi_ok) return;
    }
    if (requests_out_ == 0 && !is_closed) napi_unref_threadsafe_function(env_, wake_);
    if (!events.empty()) call_function(env, function, 1, &array);
}

} // namespace binding
