// src/llama/context/context.cpp and draft_context.cpp with the calls of llama_faults.h put between it and llama.cpp. Linked instead of it.
#include "llama_faults.h"

#include <algorithm>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

// Before the names below are taken over, so that llama.cpp's declarations keep theirs.
#include "../src/llama-ext.h"

#include "llama-cpp.h"
#include "llama.h"

namespace test {

Faults& faults() {
    static Faults instance;
    return instance;
}

namespace {

/// Nodes of a graph that are computed before it breaks off midway.
constexpr int kNodesMidway = 20;

/// What Context has set, to be put back after a graph was broken off.
struct Abort {
    ggml_abort_callback callback = nullptr;
    void* data = nullptr;
};

std::map<llama_context*, Abort>& aborts() {
    static std::map<llama_context*, Abort> instance;
    return instance;
}

} // namespace

void set_abort_callback(llama_context* context, ggml_abort_callback callback, void* data) {
    aborts()[context] = {.callback = callback, .data = data};
    llama_set_abort_callback(context, callback, data);
}

namespace {

int32_t decode_broken_off(llama_context* context, const llama_batch& batch, int nodes) {
    llama_set_abort_callback(context, [](void* left) { return (*static_cast<int*>(left))-- <= 0; }, &nodes);
    const int32_t code = llama_decode(context, batch);
    const Abort& abort = aborts()[context];
    llama_set_abort_callback(context, abort.callback, abort.data);
    // As llama.cpp does when a graph fails of itself. A graph that was finished before was not broken.
    return code == 2 ? -3 : code;
}

/// Breaks off the first graph alone.
int32_t decode_with_broken_start(llama_context* context, const llama_batch& batch) {
    bool is_first = true;
    llama_set_abort_callback(
        context, [](void* first) { return std::exchange(*static_cast<bool*>(first), false); }, &is_first);
    const int32_t code = llama_decode(context, batch);
    const Abort& abort = aborts()[context];
    llama_set_abort_callback(context, abort.callback, abort.data);
    return code;
}

/// Whether these are layers for multi-token prediction, whose tokens have a state each, or those of a speculator.
bool drafts(const llama_context* context, const llama_batch& batch) {
    const bool is_speculator = llama_model_target_layer_ids_n(llama_get_model(context)) > 0;
    return is_speculator || (batch.token != nullptr && batch.embd != nullptr);
}

void count_misplaced(llama_context* context, const llama_batch& batch) {
    std::map<llama_seq_id, llama_pos> next;
    for (int32_t i = 0; i < batch.n_tokens; ++i) {
        const llama_seq_id slot = batch.seq_id[i][0];
        const auto [place, is_first] = next.emplace(slot, 0);
        if (is_first) place->second = llama_memory_seq_pos_max(llama_get_memory(context), slot) + 1;
        // For layers that draft, a text begins anywhere.
        if (is_first && place->second == 0 && drafts(context, batch)) place->second = batch.pos[i];
        if (batch.pos[i] != place->second++) faults().misplaced += 1;
    }
}

} // namespace

int32_t decode(llama_context* context, const llama_batch& batch) {
    count_misplaced(context, batch);
    const Fault fault = faults().decode ? faults().decode(batch) : Fault::none;
    switch (fault) {
        case Fault::none: return llama_decode(context, batch);
        case Fault::refused: return -1;
        case Fault::no_cell: return 1;
        case Fault::no_memory: return -2;
        case Fault::no_memory_thrown: throw std::bad_alloc();
        case Fault::broken_at_once: return decode_broken_off(context, batch, 0);
        case Fault::keys_unturned: return decode_with_broken_start(context, batch);
        case Fault::broken_midway: return decode_broken_off(context, batch, kNodesMidway);
        default: llama_decode(context, batch);
    }
    if (fault == Fault::late_thrown) throw std::runtime_error("a fault");
    return fault == Fault::late_no_memory ? -2 : -3;
}

namespace {

/// Makes a call, or throws before or after it.
auto call_or_throw(const Call& call, const auto& make) {
    const bool is_faulty = faults().other && faults().other(call);
    if (!is_faulty) return make();
    if (faults().is_late) make();
    throw std::bad_alloc();
}

bool remove(llama_memory_t memory, llama_seq_id slot, llama_pos from, llama_pos to) {
    return call_or_throw({.kind = Call::Kind::remove, .slot = slot, .from = std::max(from, 0)},
                         [&] { return llama_memory_seq_rm(memory, slot, from, to); });
}

void clear(llama_memory_t memory, bool data) {
    call_or_throw({.kind = Call::Kind::clear}, [&] { llama_memory_clear(memory, data); });
}

void share(llama_memory_t memory, llama_seq_id from, llama_seq_id to, llama_pos begin, llama_pos end) {
    call_or_throw({.kind = Call::Kind::share, .slot = to},
                  [&] { llama_memory_seq_cp(memory, from, to, begin, end); });
}

void move(llama_memory_t memory, llama_seq_id slot, llama_pos begin, llama_pos end, llama_pos by) {
    call_or_throw({.kind = Call::Kind::move, .slot = slot, .from = begin},
                  [&] { llama_memory_seq_add(memory, slot, begin, end, by); });
}

size_t save(llama_context* context, uint8_t* data, size_t size, llama_seq_id slot,
            llama_state_seq_flags flags) {
    return call_or_throw({.kind = Call::Kind::save, .slot = slot},
                         [&] { return llama_state_seq_get_data_ext(context, data, size, slot, flags); });
}

size_t restore(llama_context* context, const uint8_t* data, size_t size, llama_seq_id slot,
               llama_state_seq_flags flags) {
    return call_or_throw({.kind = Call::Kind::restore, .slot = slot},
                         [&] { return llama_state_seq_set_data_ext(context, data, size, slot, flags); });
}

} // namespace

} // namespace test

#define llama_decode test::decode
#define llama_memory_clear test::clear
#define llama_memory_seq_rm test::remove
#define llama_memory_seq_add test::move
#define llama_memory_seq_cp test::share
#define llama_state_seq_get_data_ext test::save
#define llama_state_seq_set_data_ext test::restore
#define llama_set_abort_callback test::set_abort_callback

#include "llama/context/context.cpp"
#include "llama/context/draft_context.cpp" // NOLINT: the point of this file
