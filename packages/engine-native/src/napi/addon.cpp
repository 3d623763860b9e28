// The addon's entry: what `require` of the .node file returns.
#include "napi/addon.h"

#include "llama/backend/backend.h"
#include "napi/engine_object.h"
#include "napi/model_object.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"
#include "process/confinement.h"

#include <memory>
#include <string>

#include <napi.h>

namespace napi {

namespace {

Napi::Value build_info(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const llama::BackendInfo backend = llama::backend_info();
    Napi::Object upstream = Napi::Object::New(env);
    upstream.Set("version", backend.version);
    upstream.Set("commit", backend.commit);
    upstream.Set("sources", INGLE_LLAMA_SOURCES);
    Napi::Object object = Napi::Object::New(env);
    object.Set("version", INGLE_VERSION);
    object.Set("llamaCpp", upstream);
    object.Set("gpu", INGLE_GPU);
    object.Set("cpu", INGLE_CPU);
    object.Set("compiler", INGLE_COMPILER);
    object.Set("buildType", INGLE_BUILD_TYPE);
    Writer(env).write_fields(object, backend);
    return object;
}

Napi::Value confine_process(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    const auto state_file = read<std::string>(info[0], "stateFile");
    if (!state_file) return thrown(env, state_file.error());
    const auto slot_dir = read<std::string>(info[1], "slotDir");
    if (!slot_dir) return thrown(env, slot_dir.error());
    return {env, Writer(env).write(process::confine_process(*state_file, *slot_dir, llama::has_gpu()))};
}

void end_when_device_is_lost(const Napi::CallbackInfo&) {
    llama::end_when_device_is_lost();
}

void keep_memory_tight(const Napi::CallbackInfo&) {
    llama::keep_memory_tight();
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
    auto data = std::make_unique<AddonData>();
    data->model_class = Napi::Persistent(ModelObject::define(env));
    data->engine_class = Napi::Persistent(EngineObject::define(env));
    env.SetInstanceData(data.release()); // deleted by node-addon-api when the environment ends
    exports.Set("buildInfo", Napi::Function::New<build_info>(env, "buildInfo"));
    exports.Set("computeImatrix", Napi::Function::New<compute_imatrix>(env, "computeImatrix"));
    exports.Set("confineProcess", Napi::Function::New<confine_process>(env, "confineProcess"));
    exports.Set("connectWorker", Napi::Function::New<connect_worker>(env, "connectWorker"));
    exports.Set("endWhenDeviceIsLost",
                Napi::Function::New<end_when_device_is_lost>(env, "endWhenDeviceIsLost"));
    exports.Set("isWorkerLost", Napi::Function::New<is_worker_lost>(env, "isWorkerLost"));
    exports.Set("keepMemoryTight", Napi::Function::New<keep_memory_tight>(env, "keepMemoryTight"));
    exports.Set("loadModel", Napi::Function::New<load_model>(env, "loadModel"));
    exports.Set("loseWorker", Napi::Function::New<lose_worker>(env, "loseWorker"));
    exports.Set("measureModel", Napi::Function::New<measure_model>(env, "measureModel"));
    exports.Set("planQuantization", Napi::Function::New<plan_quantization>(env, "planQuantization"));
    exports.Set("quantizeModel", Napi::Function::New<quantize_model>(env, "quantizeModel"));
    exports.Set("servePeer", Napi::Function::New<serve_peer>(env, "servePeer"));
    exports.Set("setLogSink", Napi::Function::New<set_log_sink>(env, "setLogSink"));
    exports.Set("workerDevices", Napi::Function::New<worker_devices>(env, "workerDevices"));
    return exports;
}

} // namespace

NODE_API_MODULE(ingle, init)

} // namespace napi
