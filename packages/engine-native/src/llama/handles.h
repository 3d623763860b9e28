// Owners of llama.cpp's objects. llama-cpp.h has the first four; the rest are ours in the same manner.
#pragma once

#include <memory>

#include "ggml-cpu.h"
#include "llama-cpp.h"

namespace llama_rt {

struct ThreadpoolDeleter {
    void operator()(ggml_threadpool* pool) { ggml_threadpool_free(pool); }
};

using ThreadpoolPtr = std::unique_ptr<ggml_threadpool, ThreadpoolDeleter>;

} // namespace llama_rt
