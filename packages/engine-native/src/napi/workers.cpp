#include "napi/workers.h"

#include "llama/backend/workers.h"
#include "napi/check.h"
#include "napi/convert.h"
#include "napi/promise_worker.h"

#include <memory>
#include <utility>
#include <vector>

namespace binding {

namespace {

class ConnectWorker final : public PromiseWorker {
public:
    ConnectWorker(llama_rt::WorkerConnection::Options options, int fd)
        : options_(std::move(options)), fd_(fd) {}

private:
    base::Result<void> execute() override {
        auto opened = llama_rt::WorkerConnection::open(options_, fd_);
        if (!opened) return std::unexpected(opened.error());
        connection_ = std::move(*opened);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_worker(env, std::move(connection_)); }

    llama_rt::WorkerConnection::Options options_;
    int fd_;
    std::shared_ptr<llama_rt::WorkerConnection> connection_;
};

class DevicesWorker final : public PromiseWorker {
public:
    explicit DevicesWorker(std::shared_ptr<llama_rt::WorkerConnection> connection)
        : connection_(std::move(connection)) {}

private:
    base::Result<void> execute() override {
        devices_ = connection_->device_infos();
        if (connection_->is_lost()) return std::unexpected(llama_rt::worker_lost());
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_devices(env, devices_); }

    std::shared_ptr<llama_rt::WorkerConnection> connection_;
    std::vector<llama_rt::Device> devices_;
};

class ServeWorker final : public PromiseWorker {
public:
    explicit ServeWorker(llama_rt::WorkerOptions options) : options_(std::move(options)) {}

private:
    base::Result<void> execute() override { return llama_rt::serve_peer(options_); }

    Napi::Value result(Napi::Env env) override { return env.Undefined(); }

    llama_rt::WorkerOptions options_;
};

} // namespace

Napi::Value connect_worker(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    base::Result<llama_rt::WorkerConnection::Options> options = to_connect_options(info[0]);
    const base::Result<llama_rt::SocketPair> sockets =
        options ? llama_rt::socket_pair() : std::unexpected(options.error());
    if (!sockets) {
        throw_error(env, sockets.error());
        return env.Undefined();
    }
    Napi::Object made = Napi::Object::New(env);
    made.Set("fd", sockets->theirs);
    made.Set("worker",
             PromiseWorker::start(env, std::make_unique<ConnectWorker>(std::move(*options), sockets->ours)));
    return made;
}

Napi::Value worker_devices(const Napi::CallbackInfo& info) {
    auto worker = to_worker(info[0]);
    if (worker) return PromiseWorker::start(info.Env(), std::make_unique<DevicesWorker>(std::move(*worker)));
    throw_error(info.Env(), worker.error());
    return info.Env().Undefined();
}

Napi::Value is_worker_lost(const Napi::CallbackInfo& info) {
    const auto worker = to_worker(info[0]);
    if (worker) return Napi::Boolean::New(info.Env(), (*worker)->is_lost());
    throw_error(info.Env(), worker.error());
    return info.Env().Undefined();
}

void lose_worker(const Napi::CallbackInfo& info) {
    if (const auto worker = to_worker(info[0])) (*worker)->shut_down();
    else throw_error(info.Env(), worker.error());
}

Napi::Value serve_peer(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::WorkerOptions> options = to_worker_options(info[0]);
    if (options) return PromiseWorker::start(info.Env(), std::make_unique<ServeWorker>(std::move(*options)));
    throw_error(info.Env(), options.error());
    return info.Env().Undefined();
}

} // namespace binding
