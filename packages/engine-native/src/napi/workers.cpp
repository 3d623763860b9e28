// connectWorker() and servePeer() of seam/workers.d.ts: connections to workers on other machines, and serving as one.
#include "llama/backend/workers.h"

#include "napi/addon.h"
#include "napi/async_work.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <memory>
#include <utility>
#include <vector>

namespace napi {

using WorkerPtr = std::shared_ptr<llama::WorkerConnection>;

Napi::Value connect_worker(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto options = read<llama::ConnectOptions>(info[0]);
    const base::Result<llama::SocketPair> sockets =
        options ? llama::socket_pair() : std::unexpected(options.error());
    if (!sockets) return thrown(env, sockets.error());
    auto open = [options = std::move(*options), fd = sockets->ours] {
        return llama::WorkerConnection::open(options, fd);
    };
    Napi::Object started = Napi::Object::New(env);
    started.Set("fd", sockets->theirs);
    started.Set("worker", run_async(env, std::move(open), to_js));
    return started;
}

Napi::Value worker_devices(const Napi::CallbackInfo& info) {
    auto worker = read<WorkerPtr>(info[0], "worker");
    if (!worker) return thrown(info.Env(), worker.error());
    const auto list_devices = [worker = std::move(*worker)]() -> base::Result<std::vector<llama::Device>> {
        std::vector<llama::Device> devices = worker->device_infos();
        if (worker->is_lost()) return std::unexpected(llama::worker_lost());
        return devices;
    };
    return run_async(info.Env(), list_devices, to_js);
}

Napi::Value is_worker_lost(const Napi::CallbackInfo& info) {
    const auto worker = read<WorkerPtr>(info[0], "worker");
    if (!worker) return thrown(info.Env(), worker.error());
    return Napi::Boolean::New(info.Env(), (*worker)->is_lost());
}

void lose_worker(const Napi::CallbackInfo& info) {
    if (const auto worker = read<WorkerPtr>(info[0], "worker")) (*worker)->shut_down();
    else throw_error(info.Env(), worker.error());
}

Napi::Value serve_peer(const Napi::CallbackInfo& info) {
    auto options = read<llama::WorkerOptions>(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    return run_async(
        info.Env(), [options = std::move(*options)] { return llama::serve_peer(options); }, to_undefined);
}

} // namespace napi
