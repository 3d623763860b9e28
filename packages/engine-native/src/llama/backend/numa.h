// Placement on machines with several NUMA nodes, which have memory close to some of their processors.
#pragma once

#include "base/result.h"

#include <string>

namespace llama_rt {

/// Makes ggml place its threads by this strategy: "distribute", "isolate" or "numactl"; "" does nothing. It applies to the whole
/// process from the first model on. `invalid_argument` on a machine with one node, where no strategy has an effect, or if the
/// process has another strategy. Any thread.
base::Result<void> start_numa(const std::string& strategy);

} // namespace llama_rt
