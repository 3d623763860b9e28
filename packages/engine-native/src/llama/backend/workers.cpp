#include "llama/backend/workers.h"

#include <algorithm>
#include <cstddef>

#include "ggml-cpp.h"
#include "ggml-rpc.h"
#ifndef _WIN32
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#endif

namespace llama {

using base::Code;

namespace {

#ifndef _WIN32
/// Makes the socket blocking; calls that wait longer than `ms` fail.
void set_timeout(int fd, int32_t ms) {
    const timeval limit{.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); // NOLINT: as the system declares it
}
#endif

/// A device's backend. A CPU backend computes with `threads` threads of `pool`.
ggml_backend_ptr make_backend(ggml_backend_dev_t device, ggml_threadpool* pool, int32_t threads) {
    ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    if (backend != nullptr && ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU)
        set_threadpool(backend.get(), pool, threads);
    return backend;
}

} // namespace

WorkerConnection::WorkerConnection(ggml_backend_rpc_connection* connection) : connection_(connection) {
    ggml_backend_reg_t devices = ggml_backend_rpc_connection_reg(connection);
    for (size_t i = 0; i < ggml_backend_reg_dev_count(devices); ++i)
        devices_.push_back(ggml_backend_reg_dev_get(devices, i));
}

void WorkerConnection::Deleter::operator()(ggml_backend_rpc_connection* connection) const {
    ggml_backend_rpc_connection_free(connection);
}

base::Result<std::shared_ptr<WorkerConnection>> WorkerConnection::open(const ConnectOptions& options,
                                                                       int fd) {
    ensure_backend();
#ifndef _WIN32
    set_timeout(fd, options.reply_ms_max);
#endif
    ggml_backend_rpc_connection* connection = ggml_backend_rpc_attach(options.name.c_str(), fd);
    if (connection == nullptr) return std::unexpected(worker_lost());
    return std::shared_ptr<WorkerConnection>(new WorkerConnection(connection));
}

std::vector<Device> WorkerConnection::device_infos() const {
    std::vector<Device> infos;
    for (ggml_backend_dev_t device : devices_) infos.push_back(device_info(device));
    return infos;
}

bool WorkerConnection::is_lost() const {
    return ggml_backend_rpc_connection_is_lost(connection_.get());
}

void WorkerConnection::shut_down() {
    ggml_backend_rpc_connection_shut_down(connection_.get());
}

bool is_any_lost(const WorkerConnections& workers) {
    return std::ranges::any_of(workers, [](const auto& worker) { return worker->is_lost(); });
}

base::Error worker_lost() {
    return {.code = Code::worker_lost,
            .message = "The connection to a worker that holds a part of the model was lost."};
}

base::Result<void> serve_peer(const WorkerOptions& options) {
    ensure_backend();
    const ThreadpoolPtr pool = make_threadpool(options.threads);
    std::vector<ggml_backend_ptr> backends;
    std::vector<ggml_backend_t> raw;
    std::vector<size_t> bytes_max;
    for (const auto& [name, device_bytes_max] : options.devices) {
        ggml_backend_dev_t device = ggml_backend_dev_by_name(name.c_str());
        if (device != nullptr) backends.push_back(make_backend(device, pool.get(), options.threads));
        if (device == nullptr || backends.back() == nullptr)
            return base::fail(Code::invalid_argument, "The device " + name + " cannot be used.");
        raw.push_back(backends.back().get());
        bytes_max.push_back(device_bytes_max);
    }
    ErrorLines errors;
    if (ggml_backend_rpc_serve(options.fd, raw.size(), raw.data(), bytes_max.data())) return {};
    const std::string& lines = errors.text();
    return base::fail(Code::invalid_argument, lines.empty() ? "a message of the wrong length or kind"
                                                            : lines.substr(0, lines.find('\n')));
}

base::Result<SocketPair> socket_pair() {
#ifdef _WIN32
    return base::fail(Code::engine_failed, "Workers are not supported on Windows.");
#else
    int fds[2]; // NOLINT: socketpair() fills it
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return base::fail(Code::engine_failed, "No sockets are left in this process.");
    for (const int fd : fds) fcntl(fd, F_SETFD, FD_CLOEXEC); // NOLINT: as the system declares it
    return SocketPair{.ours = fds[0], .theirs = fds[1]};
#endif
}

} // namespace llama
