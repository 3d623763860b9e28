#include "napi/workers.h"

#include "llama/backend/workers.h"
#include "napi/async_work.h"
#include "napi/check.h"
#include "napi/convert.h"

#include <utility>
#include <vector>

namespace binding {

Napi::Value connect_worker(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::WorkerConnection::Options> options = to_connect_options(info[0]);
    const base::Result<llama_rt::SocketPair> sockets =
        options ? llama_rt::socket_pair() : std::unexpected(options.error());
    if (!sockets) return thrown(env, sockets.error());
    Napi::Object made = Napi::Object::New(env);
    made.Set("fd", sockets->theirs);
    made.Set("worker", run_async(
                           env,
                           [options = std::move(*options), fd = sockets->ours] {
                               return llama_rt::WorkerConnection::open(options, fd);
                           },
                           from_worker));
    return made;
}

Napi::Value worker_devices(const Napi::CallbackInfo& info) {
    auto worker = to_worker(info[0]);
    if (!worker) return thrown(info.Env(), worker.error());
    const auto list_devices = [worker = std::move(*worker)]() -> base::Result<std::vector<llama_rt::Device>> {
        std::vector<llama_rt::Device> devices = worker->device_infos();
        if (worker->is_lost()) return std::unexpected(llama_rt::worker_lost());
        return devices;
    };
    return run_async(info.Env(), list_devices, from_devices);
}

Napi::Value is_worker_lost(const Napi::CallbackInfo& info) {
    const auto worker = to_worker(info[0]);
    if (!worker) return thrown(info.Env(), worker.error());
    return Napi::Boolean::New(info.Env(), (*worker)->is_lost());
}

void lose_worker(const Napi::CallbackInfo& info) {
    if (const auto worker = to_worker(info[0])) (*worker)->shut_down();
    else throw_error(info.Env(), worker.error());
}

Napi::Value serve_peer(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::WorkerOptions> options = to_worker_options(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    return run_async(
        info.Env(), [options = std::move(*options)] { return llama_rt::serve_peer(options); }, to_undefined);
}

} // namespace binding
