#include "llama/backend/backend.h"

#include "build-info.h"
#include "llama/context/kv_types.h"
#include "log.h"
#include "process/performance_cores.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

#include "ggml-backend.h"
#include "llama.h"
#include "mtmd.h"
#ifdef __GLIBC__ // defined by the headers above
#include <malloc.h>
#endif
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace llama {

namespace {

thread_local LogListener* log_listener = nullptr;

std::mutex sink_mutex;
std::shared_ptr<LogSink> sink_current; // guarded by sink_mutex

std::atomic<bool> lost_device_ends_process = false;

void on_log(ggml_log_level level, const char* text, void*) {
    if (log_listener != nullptr) log_listener->tell(level, text);
    std::shared_ptr<LogSink> sink;
    {
        std::lock_guard lock(sink_mutex);
        sink = sink_current;
    }
    if (sink != nullptr) (*sink)(level, text);
}

std::string type_name(enum ggml_backend_dev_type type) {
    switch (type) {
        case GGML_BACKEND_DEVICE_TYPE_CPU: return "cpu";
        case GGML_BACKEND_DEVICE_TYPE_GPU: return "gpu";
        case GGML_BACKEND_DEVICE_TYPE_IGPU: return "igpu";
        default: return "accel";
    }
}

std::vector<std::string> cpu_features() {
    std::vector<std::string> names;
    ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");
    if (cpu == nullptr) return names;
    const auto get_features = reinterpret_cast<ggml_backend_get_features_t>(
        ggml_backend_reg_get_proc_address(cpu, "ggml_backend_get_features"));
    if (get_features == nullptr) return names;
    for (const ggml_backend_feature* feature = get_features(cpu); feature->name != nullptr; ++feature) {
        if (std::string(feature->value) != "0") names.emplace_back(feature->name);
    }
    return names;
}

#ifdef INGLE_LOADS_BACKENDS
/// The folder of the file that this function is in: the addon's.
std::string addon_folder() {
#ifdef _WIN32
    HMODULE addon = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       reinterpret_cast<LPCWSTR>(&addon_folder), &addon);
    std::wstring name(32768, L'\0'); // the longest path of Windows
    name.resize(GetModuleFileNameW(addon, name.data(), static_cast<DWORD>(name.size())));
    const auto folder = std::filesystem::path(name).parent_path().u8string();
    return {folder.begin(), folder.end()};
#else
    Dl_info addon{};
    dladdr(reinterpret_cast<void*>(&addon_folder), &addon);
    return std::filesystem::path(addon.dli_fname).parent_path().string();
#endif
}

/// Loads the best code for this processor, and that of the GPU.
void load_backends() {
    ggml_backend_load_all_from_path(addon_folder().c_str());
    // Without any, llama.cpp would look into the program's folder and the working directory.
    if (ggml_backend_reg_by_name("CPU") == nullptr)
        GGML_ABORT(
            "Ingle's code for this processor (ggml-cpu-*) is missing beside the addon. Install it again.");
}
#endif

} // namespace

void ensure_backend() {
    static std::once_flag once;
    std::call_once(once, [] {
        llama_log_set(on_log, nullptr);
        mtmd_log_set(on_log, nullptr);
        common_log_set_verbosity_thold(
            -1); // llama.cpp's common/ has a logger of its own, which writes to stderr
#ifdef INGLE_LOADS_BACKENDS
        load_backends();
#endif
        llama_backend_init();
    });
}

Device device_info(ggml_backend_dev_t device) {
    size_t free = 0;
    size_t total = 0;
    ggml_backend_dev_memory(device, &free, &total);
    return {.name = ggml_backend_dev_name(device),
            .description = ggml_backend_dev_description(device),
            .backend = ggml_backend_reg_name(ggml_backend_dev_backend_reg(device)),
            .type = type_name(ggml_backend_dev_type(device)),
            .memory_free = free,
            .memory_total = total};
}

BackendInfo backend_info() {
    ensure_backend();
    BackendInfo info{.version = llama_version(),
                     .commit = llama_commit(),
                     .devices = {},
                     .cpu_features = {},
                     .performance_cores = process::performance_cores(),
                     .kv_types = kv_type_names()};
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i)
        info.devices.push_back(device_info(ggml_backend_dev_get(i)));
    info.cpu_features = cpu_features();
    return info;
}

bool has_gpu() {
    ensure_backend();
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) != nullptr ||
           ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU) != nullptr;
}

bool is_out_of_memory(std::string_view error) {
    // The last two are Vulkan's.
    constexpr std::array<std::string_view, 5> kWords = {
        "unable to allocate", "failed to allocate", "out of memory", "OutOfDeviceMemory", "OutOfHostMemory"};
    return std::ranges::any_of(
        kWords, [&](std::string_view words) { return error.find(words) != std::string::npos; });
}

void end_when_device_is_lost() {
    lost_device_ends_process = true;
}

void check_device(const std::exception& error) {
    // Vulkan's word.
    constexpr std::string_view kLost = "ErrorDeviceLost";
    if (!lost_device_ends_process || std::string_view(error.what()).find(kLost) == std::string_view::npos)
        return;
    std::fprintf(stderr, "The GPU was lost: %s\n", error.what());
    std::abort();
}

void log_debug(const std::string& line) {
    on_log(GGML_LOG_LEVEL_DEBUG, line.c_str(), nullptr);
}

void set_log_sink(LogSink sink) {
    ensure_backend();
    std::lock_guard lock(sink_mutex);
    sink_current = sink ? std::make_shared<LogSink>(std::move(sink)) : nullptr;
}

void keep_memory_tight() {
#ifdef __GLIBC__
    constexpr int kKeptBytes = 128 * 1024;
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, kKeptBytes);
#endif
}

void give_back_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

LogListener::LogListener(Hear hear) : hear_(std::move(hear)), outer_(std::exchange(log_listener, this)) {}

LogListener::~LogListener() {
    log_listener = outer_;
}

void LogListener::tell(int level, const char* text) const {
    hear_(level, text);
    if (outer_ != nullptr) outer_->tell(level, text);
}

void ErrorLines::add(int level, const char* text) {
    if (level == GGML_LOG_LEVEL_ERROR) text_ += text;
}

} // namespace llama
