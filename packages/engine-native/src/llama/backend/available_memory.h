// How much memory can be had now, before it is taken: the system promises more than there is, and ends the process when it is
// touched. Used where memory is taken while requests run, outside of what was planned when the model was loaded.
#pragma once

#include <cstdint>

namespace llama_rt {

/// Bytes that this process can still take of the machine and of its container, whichever has less, and of its GPUs. Any
/// thread. The highest number where the system does not say.
uint64_t available_memory();

} // namespace llama_rt
