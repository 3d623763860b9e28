// llama.cpp as a whole: its initialization once per process, its log, and what this build and machine offer.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "process/thread_placement.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ggml-cpu.h"

namespace llama {

struct Device {
    std::string name;
    std::string description;
    std::string backend;
    std::string type;
    uint64_t memory_free;
    uint64_t memory_total;
};

constexpr auto fields_of(const Device*) {
    return base::rows(base::field("name", &Device::name), base::field("description", &Device::description),
                      base::field("backend", &Device::backend), base::field("type", &Device::type),
                      base::field("memoryFree", &Device::memory_free),
                      base::field("memoryTotal", &Device::memory_total));
}

/// Describes a device, with the memory that is free on it now.
Device device_info(ggml_backend_device* device);

struct BackendInfo {
    std::string version;
    std::string commit;
    std::vector<Device> devices;
    std::vector<std::string> cpu_features;
    int32_t performance_cores;
    std::vector<std::string> kv_types;
};

constexpr auto fields_of(const BackendInfo*) {
    return base::rows(base::field("devices", &BackendInfo::devices),
                      base::field("cpuFeatures", &BackendInfo::cpu_features),
                      base::field("performanceCores", &BackendInfo::performance_cores),
                      base::field("kvTypes", &BackendInfo::kv_types));
}

/// Starts llama.cpp on the first call; later calls do nothing. Any thread.
void ensure_backend();

/// Makes ggml place its threads by this strategy on machines with several NUMA nodes, which have memory close to some of their
/// processors: "distribute", "isolate" or "numactl"; "" does nothing. It applies to the whole process from the first model on.
/// `invalid_argument` on a machine with one node, where no strategy has an effect, or if the process has another strategy. Any thread.
base::Result<void> start_numa(const std::string& strategy);

BackendInfo backend_info();

/// Whether there is a GPU. GPUs compute asynchronously: a call may return before its result is computed.
bool has_gpu();

/// Bytes that this process can still allocate on a device of this machine; with an empty name, on the machine or in its container,
/// whichever has less. The maximum of uint64_t if the system does not report it. Compare it before large allocations that were not
/// planned when the model was loaded: the system overcommits, and kills the process when it touches memory that is not there. What
/// was allocated but not touched yet still counts as free. Any thread.
uint64_t available_memory(const std::string& device);

/// The range of thread counts that ggml supports.
inline constexpr base::Rule<int32_t> kThreads{.min = 1, .max = GGML_MAX_N_THREADS};

// The CPU backend's own functions (cpu_backend.cpp). They need ensure_backend().

/// Shared by the contexts of one thread: pool threads spin for a while after their last task, and two pools would compete for
/// the cores.
using ThreadpoolPtr = std::shared_ptr<ggml_threadpool>;
ThreadpoolPtr make_threadpool(int32_t threads, const process::ThreadPlacement& placement = {});

/// Makes a CPU backend compute with `threads` threads of `pool`.
void set_threadpool(ggml_backend_t backend, ggml_threadpool* pool, int32_t threads);

const ggml_type_traits_cpu& cpu_type_traits(ggml_type type);

/// Sends log lines to `sink`, which is called on any thread; an empty function drops them. Level: 1 debug … 4 error.
using LogSink = std::function<void(int level, const char* text)>;
void set_log_sink(LogSink sink);

/// Whether an error of llama.cpp or of a GPU's driver means that the machine or a device is out of memory.
bool is_out_of_memory(std::string_view error);

/// From now on, a lost GPU, as after its driver's reset, ends the process: only a new process gets the device back. For a process that
/// is started again.
void end_when_device_is_lost();
/// Ends the process if the error is of a lost GPU and end_when_device_is_lost() was called. Any thread.
void check_device(const std::exception& error);

/// Sends a line of our own to the sink, at level 1. Any thread.
void log_debug(const std::string& line);

/// Returns freed memory that glibc keeps for its threads (20 MB after reading a vocabulary) to the system. Takes milliseconds.
/// Does nothing without glibc. Any thread.
void give_back_freed_memory();

/// Limits glibc's allocator to one arena and makes it trim the heap early, for the rest of the process. The server takes 11 MB
/// less with it. Only for a process that runs nothing but Ingle: other multithreaded work may become slower.
void keep_memory_tight();

/// While one lives, calls `hear` with every line that llama.cpp logs on this thread, with its level as in set_log_sink().
class LogListener {
public:
    using Hear = std::function<void(int level, const char* text)>;

    explicit LogListener(Hear hear);
    ~LogListener();
    LogListener(const LogListener&) = delete;
    LogListener& operator=(const LogListener&) = delete;

    /// Calls this listener and the ones that it replaced.
    void tell(int level, const char* text) const;

private:
    Hear hear_;
    LogListener* outer_;
};

/// While one lives, collects the error lines that llama.cpp logs on this thread: the log is the only place where it says what
/// is wrong with a file.
class ErrorLines {
public:
    const std::string& text() const { return text_; }

private:
    void add(int level, const char* text);

    std::string text_;
    LogListener listener_{[this](int level, const char* text) { add(level, text); }};
};

} // namespace llama
