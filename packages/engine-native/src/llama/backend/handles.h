// Owners of llama.cpp's objects: those of llama-cpp.h, and ours in the same style.
#pragma once

#include <memory>

#include "ggml-cpu.h"
#include "llama-cpp.h"

namespace llama_rt {

/// Shared by the contexts of one thread: pool threads spin for a while after their last task, and two pools would compete for
/// the cores.
using ThreadpoolPtr = std::shared_ptr<ggml_threadpool>;

} // namespace llama_rt
