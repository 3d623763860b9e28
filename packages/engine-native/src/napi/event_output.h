// Where an engine's events go: to JavaScript (event_bridge.h) or to another process (event_pipe.h).
#pragma once

#include "engine/engine.h"

#include <vector>

namespace napi {

class EventOutput {
public:
    EventOutput() = default;
    virtual ~EventOutput() = default;
    EventOutput(const EventOutput&) = delete;
    EventOutput& operator=(const EventOutput&) = delete;

    /// The engine's thread, before close(). Never waits.
    virtual void post(std::vector<engine::Event>&& events, const engine::Stats& stats) = 0;

    /// JS thread. Announces that a request will have events.
    virtual void request_started() = 0;

    /// JS thread, idempotent. Events that were posted before still arrive.
    virtual void close() = 0;
};

} // namespace napi
