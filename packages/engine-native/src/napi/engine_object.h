// NativeEngine of engine.d.ts: an Engine, its bridge to JS, and their end, which comes from dispose(), from garbage
// collection or from the environment's teardown, whichever is first.
#pragma once

#include "engine/engine.h"
#include "napi/cleanup_hook.h"
#include "napi/event_bridge.h"

#include <memory>
#include <optional>

#include <napi.h>

namespace binding {

class EngineObject : public Napi::ObjectWrap<EngineObject> {
public:
    static Napi::Function define(Napi::Env env);

    /// Made by ModelObject.createEngine() only, with an External of the parts.
    struct Parts {
        std::shared_ptr<engine::Engine> engine;
        std::shared_ptr<EventBridge> bridge;
    };

    explicit EngineObject(const Napi::CallbackInfo& info);
    ~EngineObject() override;

private:
    Napi::Value submit(const Napi::CallbackInfo& info);
    Napi::Value embed(const Napi::CallbackInfo& info);
    Napi::Value taken_in(const base::Result<base::RequestId>& id);
    void cancel(const Napi::CallbackInfo& info);
    void report_blocks(const Napi::CallbackInfo& info);
    Napi::Value stats(const Napi::CallbackInfo& info);
    Napi::Value dispose(const Napi::CallbackInfo& info);

    static void on_teardown(void* data);

    /// False with a JS error thrown after dispose().
    bool is_usable() const;

    napi_env env_;
    // Null after dispose() and after the environment's teardown.
    std::shared_ptr<engine::Engine> engine_;
    std::shared_ptr<EventBridge> bridge_;
    /// Absent where there never was an engine.
    std::optional<CleanupHook> teardown_;
};

} // namespace binding
