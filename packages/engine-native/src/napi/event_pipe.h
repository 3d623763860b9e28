// Sends an engine's events to another process, one frame for each step, from the engine's thread. JavaScript writes only what the
// socket does not take at once. Frames that the other process is slow to read accumulate in memory; what the running requests may
// still generate bounds them.
#pragma once

#include "napi/event_output.h"
#include "napi/js_function.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <napi.h>

namespace napi {

class EventPipe final : public EventOutput {
public:
    /// `pipe` is a NativeEventPipe of seam/engine.d.ts.
    static base::Result<std::shared_ptr<EventPipe>> create(Napi::Env env, const Napi::Object& pipe);

    void post(std::vector<engine::Event>&& events, const engine::Stats& stats) override;
    void request_started() override {}
    void close() override { wake_->close(); }

private:
    EventPipe() = default;
    void write_backlog(napi_env env, napi_value write);

    int socket_ = -1;

    // Guarded by mutex_.
    std::mutex mutex_;
    /// Bytes that JavaScript has to write next.
    std::string backlog_;
    /// True until JavaScript has written the backlog: new frames are appended to it.
    bool is_behind_ = false;

    /// Set by create().
    std::optional<JsFunction<Signal>> wake_;
};

} // namespace napi
