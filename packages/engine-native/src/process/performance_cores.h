// The cores that are made for speed, where the system tells them only through calls: on macOS and Windows. On Linux, they are in files,
// which the engine's TypeScript reads (machine/processors.ts).
#pragma once

#include <cstdint>

namespace process {

/// Number of this machine's physical cores without those that save energy; 0 if it is unknown, and on Linux. Any thread.
int32_t performance_cores();

} // namespace process
