#include "llama/backend/backend.h"

#include <filesystem>
#include <mutex>
#include <system_error>

#include "llama.h"

namespace llama {

namespace {

/// The nodes that Linux lists; ggml supports no other system.
bool has_several_nodes() {
    std::error_code none;
    return std::filesystem::exists("/sys/devices/system/node/node1", none);
}

std::mutex numa_mutex;
std::string numa_started; // guarded by numa_mutex

} // namespace

base::Result<void> start_numa(const std::string& strategy) {
    if (strategy.empty()) return {};
    const bool is_known = strategy == "distribute" || strategy == "isolate" || strategy == "numactl";
    if (!is_known) return base::wrong_option("numa", "use distribute, isolate or numactl.");
    if (!has_several_nodes())
        return base::wrong_option("numa",
                                  "this machine does not have several NUMA nodes. Leave the option out.");
    ensure_backend();
    const std::lock_guard lock(numa_mutex);
    if (numa_started == strategy) return {};
    if (!numa_started.empty())
        return base::wrong_option("numa", "this process already places its threads by \"" + numa_started +
                                              "\". Use that, or a process of its own for the model.");
    numa_started = strategy;
    if (strategy == "distribute") llama_numa_init(GGML_NUMA_STRATEGY_DISTRIBUTE);
    else llama_numa_init(strategy == "isolate" ? GGML_NUMA_STRATEGY_ISOLATE : GGML_NUMA_STRATEGY_NUMACTL);
    return {};
}

} // namespace llama
