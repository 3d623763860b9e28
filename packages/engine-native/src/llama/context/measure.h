// How much memory a model and its contexts need, without allocating it: llama.cpp only computes the layout.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/context/context.h"
#include "llama/model/model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace llama {

/// Bytes needed in one memory.
struct MemoryUse {
    /// Empty for host memory.
    std::string device;
    uint64_t weights = 0;
    uint64_t context = 0;
    uint64_t compute = 0;
};

constexpr auto fields_of(const MemoryUse*) {
    return base::rows(
        base::field("device", &MemoryUse::device), base::field("weightsBytes", &MemoryUse::weights),
        base::field("contextBytes", &MemoryUse::context), base::field("computeBytes", &MemoryUse::compute));
}

/// The memory that a model and a context on it need, by device. `model` may be an outline; `slots` is as in
/// Context::create(). Fails as kv_types() does, or with `model_invalid` or `engine_failed`. Any thread.
/// While the context is laid out, `beside` is called with it, if given.
base::Result<std::vector<MemoryUse>> measure(const Model& model, const ContextOptions& options, int32_t slots,
                                             const std::function<void(llama_context*)>& beside = {});

/// The same for a context with these parameters. For a model that is loaded: the thread that owns its contexts.
base::Result<std::vector<MemoryUse>> measure(const Model& model, const llama_context_params& params,
                                             const std::function<void(llama_context*)>& beside = {});

/// Adds the uses of `more` to those of the same devices in `uses`.
void add_uses(std::vector<MemoryUse>& uses, const std::vector<MemoryUse>& more);

/// Adds the memory of a projector to `uses`. `model_invalid` if its file cannot be laid out.
base::Result<void> measure_vision(const VisionOptions& options, std::vector<MemoryUse>& uses);

} // namespace llama
