// Where the compute threads run, and how the system schedules them.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace process {

struct ThreadPlacement {
    /// Numbers of processors as the system counts them; empty for all.
    std::vector<int32_t> cpus = {};
    /// Whether each thread is pinned to one of them; otherwise every thread may run on any of them.
    bool is_strict = false;
    /// ggml_sched_priority: -1 (low) to 3 (realtime).
    int32_t priority = 0;
};

constexpr auto fields_of(const ThreadPlacement*) {
    return base::rows(base::field("cpus", &ThreadPlacement::cpus, {.size_max = 512}),
                      base::field("cpuStrict", &ThreadPlacement::is_strict),
                      base::field("priority", &ThreadPlacement::priority, {.min = -1, .max = 3}));
}

/// `invalid_argument` for processors that this process must not use, or a priority that the system does not grant: ggml would only
/// print a warning. Any thread.
base::Result<void> check_placement(const ThreadPlacement& placement);

} // namespace process
