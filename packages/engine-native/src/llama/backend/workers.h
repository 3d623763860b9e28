// Devices of other machines, over ggml's RPC backend, and this machine's devices for others. The sockets come from
// JavaScript, which has encrypted them and knows the peer (engine/src/workers): nothing here listens or connects.
#pragma once

#include "base/result.h"
#include "llama/backend/backend.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ggml_backend_device;
struct ggml_backend_rpc_connection;

namespace llama_rt {

/// A connection to one worker. Any thread.
class WorkerConnection {
public:
    struct Options {
        /// In this process: a worker that offers the same as before has the same name, so that its devices are the same ones.
        std::string name;
        /// An answer that takes longer loses the connection.
        int32_t reply_ms_max;
    };

    /// Takes the socket over, and blocks until the worker has answered. `worker_lost` where it does not answer as a worker
    /// does.
    static base::Result<std::shared_ptr<WorkerConnection>> open(const Options& options, int fd);
    ~WorkerConnection();
    WorkerConnection(const WorkerConnection&) = delete;
    WorkerConnection& operator=(const WorkerConnection&) = delete;

    const std::vector<ggml_backend_device*>& devices() const { return devices_; }
    /// With what is free there now; blocks for an answer.
    std::vector<Device> device_infos() const;

    /// It has failed: whatever computes with it fails, and what is read is zeros. It stays so.
    bool is_lost() const;
    /// Makes it fail, and wakes whoever waits for an answer. Close to the process's end the thread that moves its bytes
    /// waits for those who compute: without this, for ever.
    void shut_down();

private:
    explicit WorkerConnection(ggml_backend_rpc_connection* connection);

    ggml_backend_rpc_connection* connection_;
    std::vector<ggml_backend_device*> devices_;
};

using WorkerConnections = std::vector<std::shared_ptr<WorkerConnection>>;

bool is_any_lost(const WorkerConnections& workers);
base::Error worker_lost();

struct WorkerOptions {
    /// A connected socket, which this takes over.
    int fd;
    /// Names of this machine's devices, as backend_info() has them.
    std::vector<std::string> devices;
    /// What the peer may allocate on each of them, in bytes.
    std::vector<uint64_t> bytes_max;
    int32_t threads;
};

/// Computes for the peer of a socket until it hangs up: blocks as long. `invalid_argument` with what was wrong for a peer
/// that sends what no client of ours sends.
base::Result<void> serve_peer(const WorkerOptions& options);

/// Two sockets that are connected with each other: one for WorkerConnection::open(), one for JavaScript.
struct SocketPair {
    int ours;
    int theirs;
};
base::Result<SocketPair> socket_pair();

} // namespace llama_rt
