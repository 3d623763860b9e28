// What a worker refuses, one by one: it says why, hangs up, and its process lives on. Unchecked, most of these end the process
// by an assertion or write where they like.
#include "check.h"
#include "worker_peer.h"

#include <array>
#include <limits>

using test::append;
using test::Bytes;
using test::Command;
using test::WireTensor;
using test::WorkerPeer;

namespace {

constexpr uint32_t kU32Max = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kU64Max = std::numeric_limits<uint64_t>::max();

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

WorkerPeer::Buffer first_buffer(WorkerPeer& peer) {
    peer.greet();
    return peer.allocate(4096);
}

/// A worker that has been greeted, with a buffer and the tensors of a sum in it.
struct Sum {
    WorkerPeer peer;
    WorkerPeer::Buffer buffer = first_buffer(peer);
    WireTensor a = WorkerPeer::numbers(11, buffer, 4, 0);
    WireTensor b = WorkerPeer::numbers(12, buffer, 4, 64);
    WireTensor c = WorkerPeer::sum(13, a, b, buffer, 128);

    std::string fault_of_graph() {
        const std::array<uint64_t, 1> nodes{c.id};
        const std::array<WireTensor, 3> tensors{a, b, c};
        peer.send(Command::compute, WorkerPeer::graph(nodes, tensors));
        return peer.fault();
    }

    /// Of a message with one tensor in it.
    std::string fault_of(Command command, const WireTensor& tensor, uint64_t offset, uint64_t size) {
        Bytes payload;
        append(payload, tensor);
        append(payload, offset);
        append(payload, size);
        if (command == Command::memset_tensor) append(payload, uint8_t{1});
        peer.send(command, payload);
        return peer.fault();
    }
};

} // namespace

TEST_CASE("a worker: a graph within the rules is computed, and computed again") {
    Sum sum;
    sum.peer.set(sum.a, std::array{1.0F, 2.0F, 3.0F, 4.0F});
    sum.peer.set(sum.b, std::array{10.0F, 20.0F, 30.0F, 40.0F});
    const std::array<uint64_t, 1> nodes{sum.c.id};
    const std::array<WireTensor, 3> tensors{sum.a, sum.b, sum.c};
    sum.peer.send(Command::compute, WorkerPeer::graph(nodes, tensors));
    CHECK_EQ(sum.peer.get(sum.c, 4), (std::vector{11.0F, 22.0F, 33.0F, 44.0F}));
    sum.peer.set(sum.a, std::array{0.0F, 0.0F, 0.0F, 1.0F});
    Bytes device;
    append(device, uint32_t{0});
    sum.peer.send(Command::recompute, device);
    CHECK_EQ(sum.peer.get(sum.c, 4), (std::vector{10.0F, 20.0F, 30.0F, 41.0F}));
    CHECK_EQ(sum.peer.fault(), "");
}

TEST_CASE("a worker refuses: functions by their address") {
    for (const uint32_t op : {uint32_t{GGML_OP_CUSTOM}, uint32_t{GGML_OP_MAP_CUSTOM1},
                              uint32_t{GGML_OP_MAP_CUSTOM2}, uint32_t{GGML_OP_MAP_CUSTOM3}}) {
        Sum sum;
        sum.c.op = op;
        const uint64_t address = 0x1234;
        std::memcpy(sum.c.op_params, &address, sizeof(address)); // where the function is, to the kernel
        CHECK(contains(sum.fault_of_graph(), "an operation that workers do not run"));
    }
}

TEST_CASE("a worker refuses: operations that there are none of, and those of training") {
    for (const uint32_t op : {uint32_t{GGML_OP_COUNT}, kU32Max, uint32_t{GGML_OP_OPT_STEP_ADAMW},
                              uint32_t{GGML_OP_SOFT_MAX_BACK}}) {
        Sum sum;
        sum.c.op = op;
        CHECK(contains(sum.fault_of_graph(), "an operation that workers do not run"));
    }
    Sum unary;
    unary.c.op = GGML_OP_UNARY;
    unary.c.op_params[0] = GGML_UNARY_OP_COUNT;
    CHECK(contains(unary.fault_of_graph(), "an unknown unary operation"));
    Sum gated;
    gated.c.op = GGML_OP_GLU;
    gated.c.op_params[0] = -1;
    CHECK(contains(gated.fault_of_graph(), "an unknown gated operation"));
}

TEST_CASE("a worker refuses: what the device cannot compute") {
    Sum sum;
    sum.c.op = GGML_OP_CPY;
    sum.c.type = GGML_TYPE_IQ1_S; // nothing writes it
    sum.c.ne[0] = 256;
    sum.c.nb[0] = 50;
    sum.c.nb[1] = sum.c.nb[2] = sum.c.nb[3] = 50;
    CHECK(contains(sum.fault_of_graph(), "cannot compute CPY"));
}

TEST_CASE("a worker refuses: an operation without its operands") {
    Sum absent;
    absent.c.src[1] = 0;
    CHECK(contains(absent.fault_of_graph(), "ADD without its operands"));
    Sum empty;
    empty.b.buffer = 0; // it is of another machine, and has no data here
    empty.b.data = 0;
    CHECK(contains(empty.fault_of_graph(), "ADD without its operands"));
}

TEST_CASE("a worker refuses: types that there are none of, and rows that end inside a block") {
    Sum unknown;
    unknown.a.type = GGML_TYPE_COUNT;
    CHECK(contains(unknown.fault_of_graph(), "unknown type"));
    Sum removed;
    removed.a.type = 4; // Q4_2, which ggml has removed
    CHECK(contains(removed.fault_of_graph(), "a type that nothing is stored in"));
    Sum block;
    block.a.type = GGML_TYPE_Q4_0;
    block.a.ne[0] = 33;
    CHECK(contains(block.fault_of(Command::alloc_size, block.a, 0, 0), "")); // of another length: refused too
    Sum in_graph;
    in_graph.a.type = GGML_TYPE_Q4_0;
    in_graph.a.ne[0] = 33;
    CHECK(contains(in_graph.fault_of_graph(), "rows that are no whole number of blocks"));
}

TEST_CASE("a worker refuses: sizes and strides that 64 bits do not hold") {
    Sum sizes;
    for (uint32_t& each : sizes.a.ne) each = kU32Max;
    CHECK(contains(sizes.fault_of_graph(), "more bytes than any memory has"));
    Sum strides;
    for (int i = 0; i < GGML_MAX_DIMS; ++i) {
        strides.a.ne[i] = 1U << 11;
        strides.a.nb[i] = kU32Max;
    }
    CHECK(contains(strides.fault_of_graph(), "a tensor outside its buffer"));
}

TEST_CASE("a worker refuses: tensors outside their buffers, operands and results alike") {
    Sum before;
    before.a.data = before.buffer.base - 4;
    CHECK(contains(before.fault_of_graph(), "a tensor outside its buffer"));
    Sum behind;
    behind.b.data = behind.buffer.base + behind.buffer.size - 8;
    CHECK(contains(behind.fault_of_graph(), "a tensor outside its buffer"));
    Sum wrapped;
    wrapped.c.data = kU64Max - 4;
    CHECK(contains(wrapped.fault_of_graph(), "a tensor outside its buffer"));
    Sum strided;
    strided.c.nb[0] = 4096;
    CHECK(contains(strided.fault_of_graph(), "a tensor outside its buffer"));
}

TEST_CASE("a worker refuses: an address in no buffer") {
    Sum sum;
    sum.c.buffer = 0xDEADBEEF;
    CHECK(contains(sum.fault_of_graph(), "ADD without its operands"));
}

TEST_CASE("a worker refuses: a view that lies elsewhere than what it views") {
    Sum moved;
    moved.c.view_src = moved.a.id;
    moved.c.view_offs = 64; // it says 64, and lies 128 behind
    CHECK(contains(moved.fault_of_graph(), "a view that lies elsewhere"));
    Sum other;
    other.a.buffer = 0;
    other.a.data = 0;
    other.c.view_src = other.a.id;
    CHECK(contains(other.fault_of_graph(), "a view that lies elsewhere"));
}

TEST_CASE("a worker refuses: circles, ids that are there twice, and nodes that are not there") {
    Sum circle;
    circle.a.op = GGML_OP_DUP;
    circle.a.src[0] = circle.c.id;
    CHECK(contains(circle.fault_of_graph(), "made of what comes after it"));
    Sum own;
    own.c.view_src = own.c.id;
    CHECK(contains(own.fault_of_graph(), "made of what comes after it"));
    Sum twice;
    twice.b.id = twice.a.id;
    CHECK(contains(twice.fault_of_graph(), "two tensors with one id"));
    Sum missing;
    const std::array<uint64_t, 1> node{99};
    const std::array<WireTensor, 1> tensor{missing.a};
    missing.peer.send(Command::compute, WorkerPeer::graph(node, tensor));
    CHECK(missing.peer.fault() != "");
    Sum again;
    const std::array<uint64_t, 2> nodes{again.c.id, again.c.id};
    const std::array<WireTensor, 3> tensors{again.a, again.b, again.c};
    again.peer.send(Command::compute, WorkerPeer::graph(nodes, tensors));
    CHECK(contains(again.peer.fault(), "computes a tensor twice"));
}

TEST_CASE("a worker takes a chain of tensors that is longer than any stack") {
    Sum sum;
    constexpr uint64_t kLinks = 200'000;
    std::vector<WireTensor> chain{sum.a};
    for (uint64_t id = 100; id < 100 + kLinks; ++id) {
        chain.push_back(sum.a);
        chain.back().id = id;
        chain.back().op = GGML_OP_RESHAPE;
        chain.back().src[0] = chain[chain.size() - 2].id;
    }
    const std::array<uint64_t, 1> nodes{chain.back().id};
    sum.peer.send(Command::compute, WorkerPeer::graph(nodes, chain));
    CHECK_EQ(sum.peer.fault(), "");
}

TEST_CASE("a worker refuses: graphs of another length than they say") {
    const std::array<uint32_t, 3> counts{0, 2, kU32Max};
    for (const uint32_t nodes : counts) {
        for (const uint32_t tensors : counts) {
            Sum sum;
            Bytes payload;
            append(payload, uint32_t{0});
            append(payload, nodes);
            append(payload, sum.c.id);
            append(payload, tensors);
            append(payload, sum.c);
            sum.peer.send(Command::compute, payload);
            CHECK(sum.peer.fault() != "");
        }
    }
    Sum elsewhere;
    Bytes device;
    append(device, uint32_t{1});
    elsewhere.peer.send(Command::recompute, device);
    CHECK(elsewhere.peer.fault() != "");
}

TEST_CASE("a worker refuses: bytes outside a tensor, to be written, read or set") {
    struct Range {
        uint64_t offset;
        uint64_t size;
    };
    for (const auto& [offset, size] :
         {Range{.offset = 0, .size = 17}, Range{.offset = 16, .size = 1}, Range{.offset = kU64Max, .size = 2},
          Range{.offset = 8, .size = kU64Max}}) {
        Sum read;
        CHECK(contains(read.fault_of(Command::get_tensor, read.a, offset, size), "of a tensor of 16"));
        Sum set;
        CHECK(set.fault_of(Command::memset_tensor, set.a, offset, size) != "");
        if (size > 17) continue; // as long as its message
        Sum write;
        Bytes payload;
        append(payload, write.a);
        append(payload, uint8_t{0});
        append(payload, offset);
        payload.resize(payload.size() + size);
        write.peer.send(Command::set_tensor, payload);
        CHECK(contains(write.peer.fault(), "for a tensor of 16"));
    }
}

TEST_CASE("a worker refuses: copies between tensors of different lengths") {
    Sum sum;
    sum.b.ne[0] = 3;
    sum.b.nb[1] = sum.b.nb[2] = sum.b.nb[3] = 12;
    Bytes payload;
    append(payload, sum.a);
    append(payload, sum.b);
    sum.peer.send(Command::copy_tensor, payload);
    CHECK(contains(sum.peer.fault(), "out-of-bounds write"));
}

TEST_CASE("a worker refuses: copies of a tensor onto a part of itself") {
    Sum sum;
    sum.b.data = sum.a.data + 4;
    Bytes payload;
    append(payload, sum.a);
    append(payload, sum.b);
    sum.peer.send(Command::copy_tensor, payload);
    CHECK(contains(sum.peer.fault(), "a copy onto itself"));
}

TEST_CASE("a worker refuses: buffers of nothing, and gives none beyond its memory") {
    WorkerPeer peer;
    peer.greet();
    Bytes request;
    append(request, uint32_t{0});
    append(request, uint64_t{WorkerPeer::kBytesMax + 1});
    CHECK_EQ(peer.ask(Command::alloc_buffer, request, 2), (std::vector<uint64_t>{0, 0}));
    const WorkerPeer::Buffer half = peer.allocate(WorkerPeer::kBytesMax / 2);
    Bytes too_much;
    append(too_much, uint32_t{0});
    append(too_much, uint64_t{WorkerPeer::kBytesMax / 2 + 4096});
    CHECK_EQ(peer.ask(Command::alloc_buffer, too_much, 2), (std::vector<uint64_t>{0, 0}));
    Bytes handle;
    append(handle, half.handle);
    CHECK(peer.send(Command::free_buffer, handle));
    CHECK_EQ(peer.ask(Command::alloc_buffer, too_much, 2).size(), 2U);
    Bytes none;
    append(none, uint32_t{0});
    append(none, uint64_t{0});
    peer.send(Command::alloc_buffer, none);
    CHECK(contains(peer.fault(), "a buffer of 0 bytes"));
}

TEST_CASE("a worker refuses: buffers that it has not given out, or has taken back") {
    WorkerPeer peer;
    peer.greet();
    const WorkerPeer::Buffer buffer = peer.allocate(4096);
    Bytes handle;
    append(handle, buffer.handle);
    CHECK(peer.send(Command::free_buffer, handle));
    CHECK(peer.send(Command::free_buffer, handle));
    CHECK(contains(peer.fault(), "buffer not found"));
}

TEST_CASE("a worker forgets a graph with the buffers that it was made of") {
    Sum sum;
    const std::array<uint64_t, 1> nodes{sum.c.id};
    const std::array<WireTensor, 3> tensors{sum.a, sum.b, sum.c};
    sum.peer.send(Command::compute, WorkerPeer::graph(nodes, tensors));
    Bytes handle;
    append(handle, sum.buffer.handle);
    sum.peer.send(Command::free_buffer, handle);
    Bytes device;
    append(device, uint32_t{0});
    sum.peer.send(Command::recompute, device);
    CHECK(sum.peer.fault() != "");
    Sum broken; // a graph that is refused takes the place of the one before
    broken.peer.send(Command::compute, WorkerPeer::graph(nodes, std::array{broken.a, broken.b, broken.c}));
    CHECK_EQ(broken.fault_of_graph(), "");
}

TEST_CASE("a worker refuses: messages of other lengths than their commands have") {
    for (uint8_t command = 0; command < test::kCommands; ++command) {
        WorkerPeer peer;
        peer.greet();
        Bytes message{command};
        append(message, uint64_t{1} << 62);
        peer.send_raw(message);
        CHECK(peer.fault() != "");
    }
    WorkerPeer unknown;
    unknown.greet();
    unknown.send(static_cast<Command>(test::kCommands), {});
    CHECK(contains(unknown.fault(), "Unknown command"));
    WorkerPeer rude;
    rude.send(Command::device_count, {});
    CHECK(contains(rude.fault(), "Expected HELLO"));
}
