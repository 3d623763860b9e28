// The CPU backend's own functions. They are called through ggml's registry: a build for all processors loads the backend at run
// time and is not linked to it.
#pragma once

#include "llama/backend/handles.h"

#include <cstdint>

#include "ggml-cpu.h"

namespace llama_rt {

/// Needs ensure_backend(), as all of these do.
ThreadpoolPtr make_threadpool(int32_t threads);

/// Makes a backend of the CPU compute with `threads` threads of `pool`.
void set_threadpool(ggml_backend_t backend, ggml_threadpool* pool, int32_t threads);

const ggml_type_traits_cpu& cpu_type_traits(ggml_type type);

} // namespace llama_rt
