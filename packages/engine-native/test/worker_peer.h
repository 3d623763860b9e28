// The peer of a worker, byte by byte: what ggml's RPC client would send, and what no client would. For the tests of what a
// worker refuses.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ggml.h"

namespace test {

using Bytes = std::vector<uint8_t>;

/// Commands of the wire that the tests send, by their numbers there.
enum class Command : uint8_t {
    alloc_buffer = 0,
    get_base = 3,
    free_buffer = 4,
    clear = 5,
    set_tensor = 6,
    get_tensor = 8,
    copy_tensor = 9,
    compute = 10,
    device_memory = 11,
    init_tensor = 12,
    alloc_size = 13,
    hello = 14,
    device_count = 15,
    recompute = 16,
    memset_tensor = 17,
};
inline constexpr uint8_t kCommands = 19;

#pragma pack(push, 1)
/// A tensor on the wire.
struct WireTensor {
    uint64_t id;
    uint32_t type;
    uint64_t buffer;
    uint32_t ne[GGML_MAX_DIMS];
    uint32_t nb[GGML_MAX_DIMS];
    uint32_t op;
    int32_t op_params[GGML_MAX_OP_PARAMS / sizeof(int32_t)];
    int32_t flags;
    uint64_t src[GGML_MAX_SRC];
    uint64_t view_src;
    uint64_t view_offs;
    uint64_t data;
    char name[GGML_MAX_NAME];
    int32_t use_count;
};
#pragma pack(pop)

template <class T>
void append(Bytes& bytes, const T& value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof(value));
    std::memcpy(bytes.data() + at, &value, sizeof(value));
}

/// A worker with the processor as its only device, on a thread of its own, and this test as its peer.
class WorkerPeer {
public:
    static constexpr uint64_t kBytesMax = 64 * 1024 * 1024;

    /// What the worker does with a graph that it has not refused.
    enum class Graphs {
        compute,
        /// Reads all operands from the first to the last byte, and writes all results so: what a kernel may do.
        touch,
    };

    explicit WorkerPeer(Graphs graphs = Graphs::compute);
    ~WorkerPeer();
    WorkerPeer(const WorkerPeer&) = delete;
    WorkerPeer& operator=(const WorkerPeer&) = delete;

    void greet();

    /// False when the worker has hung up.
    bool send(Command command, const Bytes& payload);
    /// As it is, whatever it says.
    bool send_raw(const Bytes& bytes) const;
    /// An answer of this length; nothing when the worker has hung up, or says another one.
    std::optional<Bytes> receive(size_t length) const;

    /// Sends, and reads an answer of 8 bytes or several times that.
    std::vector<uint64_t> ask(Command command, const Bytes& payload, size_t numbers);

    /// Waits until the worker has hung up: what it logged as its reason.
    std::string fault();

    /// A buffer, and where it begins.
    struct Buffer {
        uint64_t handle;
        uint64_t base;
        uint64_t size;
    };
    Buffer allocate(uint64_t size);

    /// F32 numbers at an offset of a buffer.
    static WireTensor numbers(uint64_t id, const Buffer& buffer, uint32_t count, uint64_t offset = 0);
    static WireTensor sum(uint64_t id, const WireTensor& a, const WireTensor& b, const Buffer& buffer,
                          uint64_t offset);

    void set(const WireTensor& tensor, std::span<const float> values);
    std::vector<float> get(const WireTensor& tensor, size_t count);

    static Bytes graph(std::span<const uint64_t> nodes, std::span<const WireTensor> tensors);

private:
    int fd_;
    std::string fault_;
    bool has_hung_up_ = false;
    std::thread server_;
};

} // namespace test
