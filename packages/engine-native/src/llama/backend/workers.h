// Devices of other machines over ggml's RPC backend, and this machine's devices offered to others. JavaScript provides the
// sockets: it encrypts the traffic and authenticates the peer (engine/src/native/workers). Nothing here listens or connects.
#pragma once

#include "base/exit_guard.h"
#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/backend.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ggml_backend_device;
struct ggml_backend_rpc_connection;

namespace llama {

struct ConnectOptions {
    /// Identifies the worker in this process. A worker that reconnects with the same devices must have the same name, so that ggml
    /// reuses them.
    std::string name;
    /// Time limit for a response in milliseconds; after that, the connection counts as lost.
    int32_t reply_ms_max;
};

constexpr auto fields_of(const ConnectOptions*) {
    return base::rows(base::field("name", &ConnectOptions::name),
                      base::field("replyMsMax", &ConnectOptions::reply_ms_max, {.min = 1}));
}

/// A connection to one worker. Any thread.
class WorkerConnection {
public:
    /// Takes ownership of the socket and blocks until the worker responds. Fails with `worker_lost` if the response is not a
    /// worker's.
    static base::Result<std::shared_ptr<WorkerConnection>> open(const ConnectOptions& options, int fd);
    WorkerConnection(const WorkerConnection&) = delete;
    WorkerConnection& operator=(const WorkerConnection&) = delete;

    const std::vector<ggml_backend_device*>& devices() const { return devices_; }
    /// The worker's devices with their free memory now. Blocks until it responds.
    std::vector<Device> device_infos() const;

    /// True once the connection has failed, for good: computations with it fail, and reads return zeros.
    bool is_lost() const;
    /// Makes the connection fail and wakes threads that wait for a response. Without it, the process could hang on exit: the
    /// thread that carries the bytes waits for those that compute.
    void shut_down();

private:
    struct Deleter {
        void operator()(ggml_backend_rpc_connection* connection) const;
    };

    explicit WorkerConnection(ggml_backend_rpc_connection* connection);

    const std::unique_ptr<ggml_backend_rpc_connection, Deleter> connection_;
    std::vector<ggml_backend_device*> devices_;
    /// JavaScript no longer carries the bytes when the process exits, so a thread that waits for a response would keep it alive. Last, so
    /// destroyed first: it uses the connection.
    const base::ExitGuard<WorkerConnection> exit_guard_{[this] { shut_down(); }};
};

using WorkerConnections = std::vector<std::shared_ptr<WorkerConnection>>;

bool is_any_lost(const WorkerConnections& workers);
/// The error to return when a connection is lost.
base::Error worker_lost();

/// A device of this machine that a peer may use.
struct OfferedDevice {
    /// As in backend_info().
    std::string name;
    /// Bytes that the peer may allocate on it.
    uint64_t bytes_max;
};

constexpr auto fields_of(const OfferedDevice*) {
    return base::rows(base::field("name", &OfferedDevice::name),
                      base::field("bytesMax", &OfferedDevice::bytes_max));
}

struct WorkerOptions {
    /// A connected socket; serve_peer() takes ownership.
    int fd;
    std::vector<OfferedDevice> devices;
    int32_t threads;
};

constexpr auto fields_of(const WorkerOptions*) {
    return base::rows(base::field("fd", &WorkerOptions::fd, {.min = 0}),
                      base::field("devices", &WorkerOptions::devices),
                      base::field("threads", &WorkerOptions::threads, kThreads));
}

/// Computes for the peer of a socket; blocks until it disconnects. Fails with `invalid_argument` and the reason if the peer
/// sends an invalid request or a device cannot be used.
base::Result<void> serve_peer(const WorkerOptions& options);

/// Two connected sockets: `ours` for WorkerConnection::open(), `theirs` for JavaScript.
struct SocketPair {
    int ours;
    int theirs;
};
base::Result<SocketPair> socket_pair();

} // namespace llama
