// How much memory is available now. Needed before large allocations that were not planned when the model was loaded: the
// system overcommits, and kills the process when it touches memory that is not there.
#pragma once

#include <cstdint>

namespace llama_rt {

/// Bytes that this process can still allocate: on the machine or in its container, whichever has less, plus on its GPUs. The
/// maximum of uint64_t if the system does not report it. Any thread.
uint64_t available_memory();

} // namespace llama_rt
