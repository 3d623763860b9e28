// Messages at random to a worker: valid ones with a few bytes changed, and noise. It may refuse each of them or compute it;
// what it must not do is read or write outside its buffers, which a sanitizer sees, or end. Graphs that it takes are not
// computed but touched: kernels ask by themselves whether their operands fit, and end the process where they do not.
// INGLE_FUZZ_PEERS=<number> runs so many peers instead of the test's, and prints what became of them.
#include "check.h"
#include "random.h"
#include "worker_peer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

using test::append;
using test::Bytes;
using test::Command;
using test::Random;
using test::WireTensor;
using test::WorkerPeer;

namespace {

constexpr uint64_t kPeersInTests = 400;
constexpr int kMessagesOfAPeer = 25;

uint64_t peers() {
    const char* asked = std::getenv("INGLE_FUZZ_PEERS");
    return asked == nullptr ? kPeersInTests : std::strtoull(asked, nullptr, 10);
}

/// Numbers at the edges of what they are compared with.
uint64_t edge(Random& random) {
    static const std::vector<uint64_t> kEdges{
        0,          1,           2,          3,          7,          8,     31,         32,
        33,         255,         256,        4095,       4096,       4097,  0x7FFFFFFF, 0x80000000,
        0xFFFFFFFF, 0x100000000, 1ULL << 47, 1ULL << 62, 1ULL << 63, ~0ULL, ~0ULL - 3,  ~0ULL - 4095};
    return random.one_of(kEdges);
}

/// One to four places of a message become something else.
void mutate(Bytes& bytes, Random& random) {
    for (int32_t left = random.between(1, 4); left > 0 && bytes.size() >= 8; --left) {
        const size_t at = random.below(bytes.size() - 7);
        const uint64_t value = edge(random);
        switch (random.below(4)) {
            case 0: bytes[at] = static_cast<uint8_t>(random.below(256)); break;
            case 1: bytes[at] ^= static_cast<uint8_t>(1U << random.below(8)); break;
            case 2:
                std::memcpy(&bytes[at / 4 * 4], &value, 4);
                break; // where numbers of four bytes are, mostly
            default: std::memcpy(&bytes[at], &value, 8);
        }
    }
}

/// A peer that speaks the wire protocol, with a buffer on the worker to refer to.
class RandomPeer {
public:
    explicit RandomPeer(Random& random) : random_(random) {
        peer_.greet();
        buffer_ = peer_.allocate(1 << 16);
        Bytes handle;
        append(handle, buffer_.handle);
        append(handle, uint8_t{0});
        peer_.send(Command::clear, handle);
    }

    void talk() {
        for (int message = 0; message < kMessagesOfAPeer; ++message) {
            const auto [command, payload, answer] = next();
            Bytes sent = payload;
            if (random_.chance(25)) mutate(sent, random_);
            if (random_.chance(2)) sent.resize(random_.below(sent.size() + 64));
            if (!peer_.send(command, sent)) return;
            // An answer that is as long as it should be is taken; where none comes, the worker has hung up.
            if (answer > 0 && !peer_.receive(answer)) return;
        }
    }

    std::string fault() { return peer_.fault(); }

private:
    struct Message {
        Command command;
        Bytes payload;
        size_t answer;
    };

    WireTensor tensor(uint64_t id) {
        WireTensor made = WorkerPeer::numbers(id, buffer_, static_cast<uint32_t>(32 << random_.below(3)),
                                              random_.below(64) * 256);
        if (random_.chance(30)) {
            made.ne[1] = static_cast<uint32_t>(random_.between(1, 4));
            made.nb[2] = made.nb[3] = made.nb[1] * made.ne[1];
        }
        return made;
    }

    /// The tensor that a message begins with, elsewhere.
    WireTensor moved(const Bytes& message) {
        WireTensor tensor{};
        std::memcpy(&tensor, message.data(), sizeof(tensor));
        tensor.data = buffer_.base + random_.below(64) * 256;
        return tensor;
    }

    /// A graph of some nodes, each of what comes before it; the operations are any that a worker runs.
    Bytes graph() {
        std::vector<WireTensor> tensors{tensor(1), tensor(2), tensor(3)};
        std::vector<uint64_t> nodes;
        for (uint64_t id = 4; id < 4 + 1 + random_.below(5); ++id) {
            WireTensor node = tensor(id);
            const WireTensor& first = tensors[random_.below(tensors.size())];
            std::copy_n(first.ne, GGML_MAX_DIMS, node.ne);
            std::copy_n(first.nb, GGML_MAX_DIMS, node.nb);
            node.op = random_.chance(50) ? static_cast<uint32_t>(GGML_OP_ADD + 5 * random_.below(2))
                                         : static_cast<uint32_t>(random_.below(GGML_OP_COUNT));
            node.flags = GGML_TENSOR_FLAG_COMPUTE;
            node.src[0] = first.id;
            const uint64_t operands = random_.chance(80) ? 2 : random_.below(GGML_MAX_SRC);
            for (uint64_t i = 1; i < operands; ++i) node.src[i] = tensors[random_.below(tensors.size())].id;
            for (int32_t& parameter : node.op_params)
                if (random_.chance(10)) parameter = static_cast<int32_t>(edge(random_));
            tensors.push_back(node);
            nodes.push_back(id);
        }
        return WorkerPeer::graph(nodes, tensors);
    }

    Message next() {
        Bytes payload;
        switch (random_.chance(3) ? 0 : 1 + random_.below(8)) {
            case 7:
                append(payload, uint32_t{0});
                append(payload, uint64_t{1 + random_.below(1 << 20)});
                return {.command = Command::alloc_buffer, .payload = payload, .answer = 16};
            case 1:
                append(payload, tensor(1));
                append(payload, uint8_t{0});
                append(payload, uint64_t{random_.below(64)});
                payload.resize(payload.size() + random_.below(64));
                return {.command = Command::set_tensor, .payload = payload, .answer = 0};
            case 2:
                append(payload, tensor(1));
                append(payload, uint64_t{random_.below(64)});
                append(payload, uint64_t{32});
                return {.command = Command::get_tensor, .payload = payload, .answer = 32};
            case 3:
                append(payload, tensor(1));
                append(payload, random_.chance(20) ? tensor(2) : moved(payload));
                return {.command = Command::copy_tensor, .payload = payload, .answer = 1};
            case 4:
                append(payload, tensor(1));
                append(payload, uint64_t{random_.below(64)});
                append(payload, uint64_t{random_.below(64)});
                append(payload, uint8_t{7});
                return {.command = Command::memset_tensor, .payload = payload, .answer = 0};
            case 5:
                append(payload, uint32_t{0});
                append(payload, tensor(1));
                for (int i = 0; i < GGML_MAX_SRC; ++i) append(payload, i < 2 ? tensor(2) : WireTensor{});
                return {.command = Command::alloc_size, .payload = payload, .answer = 8};
            case 6:
                append(payload, tensor(1));
                return {.command = Command::init_tensor, .payload = payload, .answer = 0};
            case 0:
                payload.resize(random_.below(400));
                for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random_.below(256));
                return {.command = static_cast<Command>(random_.below(test::kCommands)),
                        .payload = payload,
                        .answer = 0};
            default: return {.command = Command::compute, .payload = graph(), .answer = 0};
        }
    }

    Random& random_;
    WorkerPeer peer_{WorkerPeer::Graphs::touch};
    WorkerPeer::Buffer buffer_{};
};

} // namespace

TEST_CASE("a worker outlives what peers send at random") {
    std::map<std::string, int> faults;
    for (const uint64_t seed : test::seeds(peers())) {
        const test::SeedOnAbort on_abort(seed);
        Random random(seed);
        RandomPeer peer(random);
        peer.talk();
        std::string fault = peer.fault();
        faults[fault.substr(0, fault.find_first_of("0123456789\n"))] += 1;
    }
    // It is hit from several sides, or the messages were not what they should be.
    CHECK(faults.size() > 8);
    if (std::getenv("INGLE_FUZZ_PEERS") != nullptr)
        for (const auto& [fault, count] : faults) std::printf("%7d  %s\n", count, fault.c_str());
}
