// Replaces our patches of ggml's RPC backend when llama.cpp is a checkout without them (LLAMA_CPP_DIR): CMakeLists.txt includes
// it before workers.cpp. Connections then fail to open, and no peer is served.
#pragma once

#include <cstddef>

#include "ggml-rpc.h"

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
