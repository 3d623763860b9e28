#include "napi/engine_object.h"

#include "napi/async_work.h"
#include "napi/cleanup_hook.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <utility>
#include <vector>

namespace napi {

namespace {

/// Stops the engine and frees context and weights on a libuv thread: joining takes as long as the current step.
Napi::Value stop(Napi::Env env, std::shared_ptr<engine::Engine> engine, std::shared_ptr<EventOutput> output) {
    return run_async(
        env,
        [engine = std::move(engine)]() mutable -> base::Result<void> {
            engine->stop();
            engine.reset();
            return {};
        },
        to_undefined, [output = std::move(output)](bool) { output->close(); });
}

/// 0 for none.
base::RequestId id_of(const Napi::Value& value) {
    return value.IsNumber() ? static_cast<base::RequestId>(value.As<Napi::Number>().Int64Value()) : 0;
}

} // namespace

Napi::Function EngineObject::define(Napi::Env env) {
    return DefineClass(
        env, "NativeEngine",
        {InstanceMethod<&EngineObject::submit>("submit"), InstanceMethod<&EngineObject::embed>("embed"),
         InstanceMethod<&EngineObject::cancel>("cancel"),
         InstanceMethod<&EngineObject::end_thought>("endThought"),
         InstanceMethod<&EngineObject::change_slot>("changeSlot"),
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
    output_ = parts->output;
    teardown_.emplace(env_, on_teardown, this);
}

/// Without dispose(), garbage collection ends the engine in the same way, off the JS thread.
EngineObject::~EngineObject() {
    if (engine_ == nullptr) return;
    const Napi::HandleScope scope(env_);
    stop(env_, std::move(engine_), std::move(output_));
}

/// The thread is joined before JavaScript is gone: one that still emitted afterwards would abort the process.
void EngineObject::on_teardown(void* data) {
    auto* object = static_cast<EngineObject*>(data);
    if (object->engine_ == nullptr) return;
    object->engine_->abandon();
    object->output_->close();
    object->engine_.reset(); // the destructor, which runs after this, has nothing left to stop
}

bool EngineObject::is_usable() const {
    if (engine_ == nullptr)
        throw_error(env_, {.code = base::Code::disposed, .message = "The engine was disposed."});
    return engine_ != nullptr;
}

Napi::Value EngineObject::submit(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    auto submission = read<engine::Submission>(info[0]);
    return admitted(submission ? engine_->submit(std::move(*submission), id_of(info[1]))
                               : std::unexpected(submission.error()));
}

Napi::Value EngineObject::embed(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    auto texts = read<std::vector<std::vector<base::Token>>>(info[0], "texts");
    auto limits = read<engine::MemoryLimits>(info[1]);
    if (!texts) return admitted(std::unexpected(texts.error()));
    if (!limits) return admitted(std::unexpected(limits.error()));
    return admitted(engine_->embed(std::move(*texts), std::move(*limits), id_of(info[2])));
}

Napi::Value EngineObject::admitted(const base::Result<base::RequestId>& id) {
    if (!id) return thrown(env_, id.error());
    output_->request_started();
    return to_js(env_, *id);
}

void EngineObject::cancel(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr || !info[0].IsNumber()) return;
    engine_->cancel(id_of(info[0]));
}

void EngineObject::end_thought(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr || !info[0].IsNumber()) return;
    engine_->end_thought(id_of(info[0]));
}

Napi::Value EngineObject::change_slot(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (!is_usable()) return env.Undefined();
    auto command = read<engine::SlotCommand>(info[0]);
    if (!command) return thrown(env, command.error());
    const auto is_aborted = std::make_shared<std::atomic<bool>>(false);
    auto work = [engine = engine_, command = std::move(*command), is_aborted,
                 teardown = abort_on_teardown(env, is_aborted)] {
        return engine->change_slot(command, *is_aborted);
    };
    Napi::Object change = Napi::Object::New(env);
    change.Set("done", run_async(env, std::move(work), to_js));
    change.Set("abort", abort_function(env, is_aborted));
    return change;
}

void EngineObject::report_blocks(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr || !info[0].IsBoolean()) return;
    engine_->report_blocks(info[0].As<Napi::Boolean>().Value());
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo& info) {
    if (!is_usable()) return info.Env().Undefined();
    return to_js(info.Env(), engine_->stats());
}

Napi::Value EngineObject::dispose(const Napi::CallbackInfo& info) {
    if (engine_ == nullptr) {
        const auto done = Napi::Promise::Deferred::New(info.Env());
        done.Resolve(info.Env().Undefined());
        return done.Promise();
    }
    // Moved, so that context and weights are freed when the thread has ended, not when this object is collected.
    return stop(info.Env(), std::move(engine_), std::move(output_));
}

} // namespace napi
