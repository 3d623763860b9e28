// Makes llama.cpp fail as a test wants it to. ingle_engine_tests is linked with faulty_context.cpp and faulty_embedder.cpp
// in place of src/llama/context/context.cpp, draft_context.cpp and embedder.cpp: the same code over the same llama.cpp, but for the calls named here, which ask before they pass
// the call on. The addon is built without any of it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "llama.h"

namespace test {

/// How a decode goes wrong; what llama.cpp has done by then, and how it tells.
enum class Fault {
    none,
    /// Nothing is computed; it says that the batch is wrong (-1), or that no cell is free (1).
    refused,
    no_cell,
    /// Nothing is computed, and an allocation has failed: by its code, or by an exception.
    no_memory,
    no_memory_thrown,
    /// All of it is computed, and then it fails.
    late,
    late_no_memory,
    late_thrown,
    /// The graph breaks off: places are taken, and some of the nodes are computed.
    broken_at_once,
    broken_midway,
    /// The graph that turns the keys of moved cells breaks off, and the batch goes on as if nothing was.
    keys_unturned,
};

/// A call beside decode. All but `clear` can be made to throw.
struct Call {
    enum class Kind { remove, clear, share, move, save, restore };
    Kind kind;
    llama_seq_id slot = -1;
    /// What is removed.
    llama_pos from = 0;
};

/// What is to fail. Set while no request is in the engine; asked on the engine's thread.
struct Faults {
    std::function<Fault(const llama_batch&)> decode = {};
    /// True throws std::bad_alloc; the call itself is made before when `is_late`.
    std::function<bool(const Call&)> other = {};
    bool is_late = false;
    /// Bytes that can still be had.
    uint64_t memory_left = std::numeric_limits<uint64_t>::max();

    /// Steps that began elsewhere than where their sequence's state ends: always a mistake of ours.
    int64_t misplaced = 0;
};

Faults& faults();

// What the code under test calls in place of llama.cpp's functions of these names.
int32_t decode(llama_context* context, const llama_batch& batch);
void set_abort_callback(llama_context* context, ggml_abort_callback callback, void* data);

/// While one lives, these are the faults.
class WithFaults {
public:
    explicit WithFaults(Faults wanted) { faults() = std::move(wanted); }
    ~WithFaults() { faults() = {}; }
    WithFaults(const WithFaults&) = delete;
    WithFaults& operator=(const WithFaults&) = delete;
};

} // namespace test
