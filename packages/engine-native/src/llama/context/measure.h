// What a model and its context will take, found without taking it: llama.cpp lays everything out and allocates nothing.
#pragma once

#include "base/result.h"
#include "llama/context/context.h"
#include "llama/model/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llama_rt {

/// Bytes in one memory.
struct MemoryUse {
    /// Empty for the machine's own memory.
    std::string device;
    uint64_t weights = 0;
    uint64_t context = 0;
    uint64_t compute = 0;
};

/// What a context on a model without weights would take, in every memory that has a part of it. `slots` as for
/// Context::create(). Any thread.
base::Result<std::vector<MemoryUse>> measure(const Model& model, const ContextOptions& options,
                                             int32_t slots);

/// Adds what a projector takes.
base::Result<void> measure_vision(const VisionOptions& options, std::vector<MemoryUse>& uses);

} // namespace llama_rt
