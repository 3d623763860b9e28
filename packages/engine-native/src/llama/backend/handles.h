// Owners of llama.cpp's objects. llama-cpp.h has the first four; the rest are ours in the same manner.
#pragma once

#include <memory>

#include "ggml-cpu.h"
#include "llama-cpp.h"

namespace llama_rt {

/// Several contexts of one thread may share one: its threads look for work for a while after their last, and those of two
/// pools would take the cores from each other.
using ThreadpoolPtr = std::shared_ptr<ggml_threadpool>;

} // namespace llama_rt
