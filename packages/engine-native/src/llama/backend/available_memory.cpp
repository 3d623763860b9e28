// available_memory() of backend.h: the memory that is free on the host, within a container's limit, and on devices.
#include "llama/backend/backend.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "ggml-backend.h"

namespace llama {

namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

#ifdef __linux__
/// The number in a file that contains only that; nothing if the file is missing or says "max".
std::optional<uint64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    uint64_t number = 0;
    if (!(file >> number)) return std::nullopt;
    return number;
}

/// The number after a name in a file of lines like "MemAvailable:  123 kB".
std::optional<uint64_t> number_of(const std::string& path, const std::string& name) {
    std::ifstream file(path);
    std::string word;
    uint64_t number = 0;
    while (file >> word) {
        if (word == name && file >> number) return number;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::nullopt;
}

/// Bytes left under a container's limit. Inactive file pages count as free: the kernel reclaims them on demand.
uint64_t left_of(const std::string& limit_file, const std::string& usage_file, const std::string& stat_file,
                 const std::string& inactive) {
    const std::optional<uint64_t> limit = number_in(limit_file);
    const std::optional<uint64_t> usage = number_in(usage_file);
    if (!limit || !usage) return kUnknown;
    const uint64_t used = *usage - std::min(*usage, number_of(stat_file, inactive).value_or(0));
    return *limit - std::min(*limit, used);
}

uint64_t available_on_host() {
    constexpr uint64_t kKiB = 1024;
    const std::optional<uint64_t> machine = number_of("/proc/meminfo", "MemAvailable:");
    const std::string two = "/sys/fs/cgroup/memory.";
    const std::string one = "/sys/fs/cgroup/memory/memory.";
    return std::min(
        {machine ? *machine * kKiB : kUnknown,
         left_of(two + "max", two + "current", two + "stat", "inactive_file"),
         left_of(one + "limit_in_bytes", one + "usage_in_bytes", one + "stat", "total_inactive_file")});
}
#else
uint64_t available_on_host() {
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (cpu == nullptr) return kUnknown;
    ggml_backend_dev_memory(cpu, &free, &total);
    return free;
}
#endif

} // namespace

uint64_t available_memory(const std::string& device) {
    if (device.empty()) return available_on_host();
    ggml_backend_dev_t found = ggml_backend_dev_by_name(device.c_str());
    if (found == nullptr) return kUnknown;
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_memory(found, &free, &total);
    return free;
}

} // namespace llama
