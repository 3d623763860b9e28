#include "napi/engine_object.h"

#include "napi/async_work.h"
#include "napi/check.h"
#include "napi/convert.h"

#include <utility>
#include <vector>

namespace binding {

namespace {

/// Stops the engine and frees context and weights on a libuv thread: joining takes as long as the step under way.
Napi::Value stop(Napi::Env env, std::shared_ptr<engine::Engine> engine, std::shared_ptr<EventBridge> bridge) {
    return run_async(
        env,
        [engine = std::move(engine)]() mutable -> base::Result<void> {
            engine->stop();
            engine.reset();
            return {};
        },
        to_undefined, [bridge = std::move(bridge)](bool) { bridge->close(); });
}

} // namespace

Napi::Function EngineObject::define(Napi::Env env) {
    return DefineClass(
        env, "NativeEngine",
        {InstanceMethod<&EngineObject::submit>("submit"), InstanceMethod<&EngineObject::embed>("embed"),
         InstanceMethod<&EngineObject::cancel>("cancel"),
         InstanceMethod<&EngineObject::report_blocks>("reportBlocks"),
         InstanceMethod<&EngineObject::stats>("stats"), InstanceMethod<&EngineObject::dispose>("dispose")});
}

EngineObject::EngineObject(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<EngineObject>(info), env_(info.Env()) {
    if (!info[0].IsExternal()) {
        throw_error(env_,
                    {.code = base::Code::invalid_argument, .message = "Engines are made by createEngine()."});
        return;
    }
    auto* parts = info[0].As<Napi::External<Parts>>().Data();
    engine_ = parts->engine;
    bridge_ = parts->bridge;
    teardown_.emplace(env_, on_teardown, this);
}

/// Collected without dispose(): it ends as dispose() ends it, off the JS thread, which has others to serve.
EngineObject::~EngineObject() {
    if (engine_ == nullptr) return;
    const Napi::HandleScope scope(env_);
    stop(env_, std::move(engine_), std::move(bridge_));
}

/// The thread is joined before JS is gone: one that still emitted afterwards would abort the process.
void EngineObject::on_teardown(void* data) {
    auto* object = static_cast<EngineObject*>(data);
    if (object->engine_ == nullptr) return;
    object->engine_->abandon();
    object->bridge_->close();
    object->engine_.reset(); // the destructor, which runs after this, has nothing left to end
}

bool EngineObject::is_usable() const {
    if (engine_ == nullptr)
        throw_error(env_, {.code = base::Code::disposed, .message = "The engine was disposed."});
    return engine_ != nullptr;
}

Napi::Value EngineObject::submit(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    base::Result<engine::Submission> submission = to_submission(info[0]);
    base::Result<base::RequestId> id =
        submission ? engine_->submit(std::move(*submission))
                   : base::Result<base::RequestId>(std::unexpected(submission.error()));
    return taken_in(id);
}

Napi::Value EngineObject::embed(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    base::Result<std::vector<std::vector<base::Token>>> texts = to_texts(info[0]);
    return taken_in(texts ? engine_->embed(std::move(*texts)) : std::unexpected(texts.error()));
}

Napi::Value EngineObject::taken_in(const base::Result<base::RequestId>& id) {
    if (!id) {
        throw_error(env_, id.error());
        return Napi::Env(env_).Undefined();
    }
    bridge_->request_started();
    return Napi::Number::New(env_, static_cast<double>(*id));
}

void EngineObject::cancel(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr || !info[0].IsNumber()) return;
    engine_->cancel(static_cast<base::RequestId>(info[0].As<Napi::Number>().Int64Value()));
}

void EngineObject::report_blocks(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr || !info[0].IsBoolean()) return;
    engine_->report_blocks(info[0].As<Napi::Boolean>().Value());
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    return from_stats(info.Env(), engine_->stats());
}

Napi::Value EngineObject::dispose(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr) {
        const auto done = Napi::Promise::Deferred::New(info.Env());
        done.Resolve(info.Env().Undefined());
        return done.Promise();
    }
    // Moved, so that context and weights go when the thread has ended, not when this object is collected.
    return stop(info.Env(), std::move(engine_), std::move(bridge_));
}

} // namespace binding
