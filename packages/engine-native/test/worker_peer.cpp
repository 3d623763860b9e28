#include "worker_peer.h"

#include "../src/ggml-backend-impl.h" // no public header lets a backend be taken apart
#include "../src/ggml-impl.h"
#include "check.h"

#include <array>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-rpc.h"
#include <sys/socket.h>
#include <unistd.h>

namespace test {

namespace {

constexpr size_t kCapsBytes = 24;
/// A server that hangs is a failed test.
constexpr timeval kPatience{.tv_sec = 60, .tv_usec = 0};

thread_local std::string* logged = nullptr;

void on_log(ggml_log_level level, const char* text, void*) {
    if (level == GGML_LOG_LEVEL_ERROR && logged != nullptr && logged->empty()) *logged = text;
}

/// In place of the kernels, which are not tested here: whether operands fit each other is theirs to ask.
ggml_status touch(ggml_backend_t, ggml_cgraph* graph) {
    for (int i = 0; i < graph->n_nodes; ++i) {
        ggml_tensor* node = graph->nodes[i];
        uint8_t sum = 0;
        for (const ggml_tensor* operand : node->src) {
            if (operand == nullptr || operand->data == nullptr) continue;
            const auto* bytes = static_cast<const uint8_t*>(operand->data);
            for (size_t at = 0; at < ggml_nbytes(operand); ++at) sum = static_cast<uint8_t>(sum + bytes[at]);
        }
        if (node->data != nullptr) std::memset(node->data, sum, ggml_nbytes(node));
    }
    return GGML_STATUS_SUCCESS;
}

} // namespace

WorkerPeer::WorkerPeer(Graphs graphs) {
    ggml_log_set(on_log, nullptr);
    std::array<int, 2> fds{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) == 0);
    fd_ = fds[0];
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    server_ = std::thread([this, graphs, fd = fds[1]] {
        logged = &fault_;
        ggml_backend_t backend = ggml_backend_cpu_init();
        ggml_backend_cpu_set_n_threads(backend, 1);
        if (graphs == Graphs::touch) backend->iface.graph_compute = touch;
        const size_t bytes_max = kBytesMax;
        has_hung_up_ = ggml_backend_rpc_serve(fd, 1, &backend, &bytes_max);
        ggml_backend_free(backend);
    });
}

WorkerPeer::~WorkerPeer() {
    shutdown(fd_, SHUT_RDWR);
    if (server_.joinable()) server_.join();
    close(fd_);
}

void WorkerPeer::greet() {
    REQUIRE(send(Command::hello, Bytes(kCapsBytes)));
    REQUIRE(receive(4 + kCapsBytes).has_value());
}

bool WorkerPeer::send_raw(const Bytes& bytes) const {
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t sent = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += static_cast<size_t>(sent);
    }
    return true;
}

bool WorkerPeer::send(Command command, const Bytes& payload) {
    Bytes bytes{static_cast<uint8_t>(command)};
    append(bytes, static_cast<uint64_t>(payload.size()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return send_raw(bytes);
}

std::optional<Bytes> WorkerPeer::receive(size_t length) const {
    const auto read = [this](void* to, size_t count) {
        for (size_t at = 0; at < count;) {
            const ssize_t got = recv(fd_, static_cast<uint8_t*>(to) + at, count - at, 0);
            if (got <= 0) return false;
            at += static_cast<size_t>(got);
        }
        return true;
    };
    uint64_t said = 0;
    if (!read(&said, sizeof(said)) || said != length) return std::nullopt;
    Bytes bytes(length);
    if (!read(bytes.data(), length)) return std::nullopt;
    return bytes;
}

std::vector<uint64_t> WorkerPeer::ask(Command command, const Bytes& payload, size_t numbers) {
    if (!send(command, payload)) return {};
    const std::optional<Bytes> answer = receive(numbers * sizeof(uint64_t));
    if (!answer) return {};
    std::vector<uint64_t> values(numbers);
    std::memcpy(values.data(), answer->data(), answer->size());
    return values;
}

std::string WorkerPeer::fault() {
    // Of a server that has nothing to object to, this is the end of what it is asked.
    shutdown(fd_, SHUT_WR);
    server_.join();
    return has_hung_up_ ? "" : fault_.empty() ? "no reason" : fault_;
}

WorkerPeer::Buffer WorkerPeer::allocate(uint64_t size) {
    Bytes request;
    append(request, uint32_t{0});
    append(request, size);
    const std::vector<uint64_t> made = ask(Command::alloc_buffer, request, 2);
    REQUIRE(made.size() == 2);
    Bytes handle;
    append(handle, made[0]);
    const std::vector<uint64_t> base = ask(Command::get_base, handle, 1);
    REQUIRE(base.size() == 1);
    return {.handle = made[0], .base = base[0], .size = made[1]};
}

WireTensor WorkerPeer::numbers(uint64_t id, const Buffer& buffer, uint32_t count, uint64_t offset) {
    WireTensor tensor{};
    tensor.id = id;
    tensor.type = GGML_TYPE_F32;
    tensor.buffer = buffer.handle;
    tensor.data = buffer.base + offset;
    tensor.ne[0] = count;
    tensor.ne[1] = tensor.ne[2] = tensor.ne[3] = 1;
    tensor.nb[0] = sizeof(float);
    tensor.nb[1] = tensor.nb[2] = tensor.nb[3] = count * static_cast<uint32_t>(sizeof(float));
    return tensor;
}

WireTensor WorkerPeer::sum(uint64_t id, const WireTensor& a, const WireTensor& b, const Buffer& buffer,
                           uint64_t offset) {
    WireTensor tensor = numbers(id, buffer, a.ne[0], offset);
    tensor.op = GGML_OP_ADD;
    tensor.flags = GGML_TENSOR_FLAG_COMPUTE;
    tensor.src[0] = a.id;
    tensor.src[1] = b.id;
    return tensor;
}

void WorkerPeer::set(const WireTensor& tensor, std::span<const float> values) {
    Bytes payload;
    append(payload, tensor);
    append(payload, uint8_t{0});
    append(payload, uint64_t{0});
    for (const float value : values) append(payload, value);
    REQUIRE(send(Command::set_tensor, payload));
}

std::vector<float> WorkerPeer::get(const WireTensor& tensor, size_t count) {
    Bytes payload;
    append(payload, tensor);
    append(payload, uint64_t{0});
    append(payload, static_cast<uint64_t>(count * sizeof(float)));
    REQUIRE(send(Command::get_tensor, payload));
    const std::optional<Bytes> answer = receive(count * sizeof(float));
    REQUIRE(answer.has_value());
    std::vector<float> values(count);
    std::memcpy(values.data(), answer->data(), answer->size());
    return values;
}

Bytes WorkerPeer::graph(std::span<const uint64_t> nodes, std::span<const WireTensor> tensors) {
    Bytes payload;
    append(payload, uint32_t{0});
    append(payload, static_cast<uint32_t>(nodes.size()));
    for (const uint64_t node : nodes) append(payload, node);
    append(payload, static_cast<uint32_t>(tensors.size()));
    for (const WireTensor& tensor : tensors) append(payload, tensor);
    return payload;
}

} // namespace test
