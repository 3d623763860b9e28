#include "process/thread_placement.h"

#include <algorithm>
#include <string>
#include <thread>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif

namespace process {

using base::wrong_option;

namespace {

#ifdef __linux__
/// The lowest priority above normal that ggml sets.
constexpr int kFifoPriorityMin = 40;

bool is_priority_granted(int32_t priority) {
    if (priority <= 0) return true; // lower values need no privilege
    bool is_granted = false;
    std::thread probe([&is_granted] {
        const sched_param param{.sched_priority = kFifoPriorityMin};
        is_granted = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0;
    });
    probe.join();
    return is_granted;
}

bool is_allowed(int32_t cpu) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return true; // more processors than the set holds
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(static_cast<size_t>(cpu), &allowed);
}
#endif

} // namespace

base::Result<void> check_placement(const ThreadPlacement& placement) {
    if (placement.is_strict && placement.cpus.empty())
        return wrong_option("cpuStrict", "it needs cpuMask or cpuRange.");
#ifdef __linux__
    for (const int32_t cpu : placement.cpus) {
        if (!is_allowed(cpu))
            return wrong_option(
                "cpuMask", "processor " + std::to_string(cpu) +
                               ", which it or cpuRange names, does not exist or is not for this process.");
    }
    if (!is_priority_granted(placement.priority))
        return wrong_option(
            "priority", "the system grants this process no priority above normal. Give it CAP_SYS_NICE, or "
                        "leave the option out.");
#elif defined(__APPLE__)
    if (!placement.cpus.empty())
        return wrong_option("cpuMask",
                            "macOS does not let programs choose processors. Leave the option out.");
#endif
    return {};
}

} // namespace process
