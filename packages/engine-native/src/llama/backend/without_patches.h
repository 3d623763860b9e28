// Replaces what our patches add to llama.cpp, for a checkout without them (LLAMA_CPP_DIR). CMake includes this first in the files
// that use it, so that their code is the same in both cases.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ggml-rpc.h"

namespace jinja {

struct work_allowance {
    int milliseconds = 0;
    uint64_t units = 0;
    size_t bytes = 0;
    const std::atomic<bool>* is_cancelled = nullptr;
};

/// Limits nothing: a template in an untrusted model file may hang the process.
struct work_limit {
    explicit work_limit(const work_allowance& /*allowance*/) {}
    ~work_limit() {} // NOLINT: not trivial, so that compilers do not report unused variables
    work_limit(const work_limit&) = delete;
    work_limit& operator=(const work_limit&) = delete;
    const char* ended() const { return nullptr; }
};

} // namespace jinja

// Connections to workers fail to open, and no peer is served.

struct ggml_backend_rpc_connection {};

inline ggml_backend_rpc_connection* ggml_backend_rpc_attach(const char*, int) {
    return nullptr;
}
inline ggml_backend_reg_t ggml_backend_rpc_connection_reg(ggml_backend_rpc_connection*) {
    return nullptr;
}
inline bool ggml_backend_rpc_connection_is_lost(ggml_backend_rpc_connection*) {
    return true;
}
inline void ggml_backend_rpc_connection_shut_down(ggml_backend_rpc_connection*) {}
inline void ggml_backend_rpc_connection_free(ggml_backend_rpc_connection*) {}
inline bool ggml_backend_rpc_serve(int, size_t, ggml_backend_t*, const size_t*) {
    return false;
}
