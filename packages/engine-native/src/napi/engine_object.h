// NativeEngine of seam/engine.d.ts: an Engine and the output of its events. It ends with dispose(), garbage collection or the
// environment's teardown, whichever comes first.
#pragma once

#include "engine/engine.h"
#include "napi/cleanup_hook.h"
#include "napi/event_output.h"

#include <memory>
#include <optional>

#include <napi.h>

namespace napi {

class EngineObject : public Napi::ObjectWrap<EngineObject> {
public:
    static Napi::Function define(Napi::Env env);

    struct Parts {
        std::shared_ptr<engine::Engine> engine;
        std::shared_ptr<EventOutput> output;
    };

    /// Called with an External of the parts, by createEngine() only.
    explicit EngineObject(const Napi::CallbackInfo& info);
    ~EngineObject() override;

private:
    Napi::Value submit(const Napi::CallbackInfo& info);
    Napi::Value embed(const Napi::CallbackInfo& info);
    Napi::Value admitted(const base::Result<base::RequestId>& id);
    void cancel(const Napi::CallbackInfo& info);
    void end_thought(const Napi::CallbackInfo& info);
    Napi::Value change_slot(const Napi::CallbackInfo& info);
    void report_blocks(const Napi::CallbackInfo& info);
    Napi::Value stats(const Napi::CallbackInfo& info);
    Napi::Value dispose(const Napi::CallbackInfo& info);

    static void on_teardown(void* data);

    /// False after dispose(), with a JavaScript error thrown.
    bool is_usable() const;

    napi_env env_;
    // Null after dispose() and after the environment's teardown.
    std::shared_ptr<engine::Engine> engine_;
    std::shared_ptr<EventOutput> output_;
    /// Absent if the constructor threw.
    std::optional<CleanupHook> teardown_;
};

} // namespace napi
