#include "process/performance_cores.h"

#ifdef __APPLE__
#include <cstddef>

#include <sys/sysctl.h>
#elif defined(_WIN32)
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#endif

namespace process {

#ifdef __APPLE__

int32_t performance_cores() {
    // Apple silicon has levels of performance, of which 0 is the fastest; Intel's processors there have one kind of core.
    for (const char* name : {"hw.perflevel0.physicalcpu", "hw.physicalcpu"}) {
        int32_t count = 0;
        size_t size = sizeof(count);
        if (sysctlbyname(name, &count, &size, nullptr, 0) == 0 && count > 0) return count;
    }
    return 0;
}

#elif defined(_WIN32)

int32_t performance_cores() {
    DWORD bytes = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &bytes);
    std::vector<std::byte> buffer(bytes);
    auto* first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data());
    if (bytes == 0 || GetLogicalProcessorInformationEx(RelationProcessorCore, first, &bytes) == 0) return 0;
    // One entry for each core, of different sizes. A higher class is faster; all are 0 where there is one kind.
    std::array<int32_t, 256> cores_by_class{};
    for (size_t at = 0; at < bytes;) {
        const auto* core = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(buffer.data() + at);
        cores_by_class[core->Processor.EfficiencyClass] += 1;
        at += core->Size;
    }
    const auto fastest =
        std::find_if(cores_by_class.rbegin(), cores_by_class.rend(), [](int32_t count) { return count > 0; });
    return fastest == cores_by_class.rend() ? 0 : *fastest;
}

#else

int32_t performance_cores() {
    return 0;
}

#endif

} // namespace process
