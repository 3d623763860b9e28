#include "process/confinement.h"

#ifdef __linux__
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace process {

namespace {

namespace fs = std::filesystem;

/// For free memory, the time zone of chat templates, and random numbers. Landlock protects the memory of other processes in /proc.
constexpr std::array kReadable = {"/proc",     "/sys",      "/etc/localtime", "/usr/share/zoneinfo",
                                  "/dev/null", "/dev/zero", "/dev/random",    "/dev/urandom"};

/// Where systems keep libraries: drivers load some of theirs when they compile the first program.
constexpr std::array kLibraries = {"/usr", "/lib", "/lib64", "/opt", "/nix/store", "/run/opengl-driver"};
constexpr std::array kSettings = {"/etc/ld.so.cache", "/etc/vulkan", "/etc/nvidia", "/etc/drirc"};

/// Devices that drivers open again for more queues and memory, by the beginnings of their names.
constexpr std::array<std::string_view, 5> kDevices = {"dri", "kfd", "nvidia", "dxg", "shm"};

/// Folders in the user's cache folder in which drivers keep the programs that they compile.
constexpr std::array kCaches = {"mesa_shader_cache", "mesa_shader_cache_db", "mesa_shader_cache_sf",
                                "radv_builtin_shaders", "nvidia"};
/// Variables that name such folders.
constexpr std::array kCacheVariables = {"MESA_SHADER_CACHE_DIR", "CUDA_CACHE_PATH",
                                        "__GL_SHADER_DISK_CACHE_PATH", "AMD_VK_PIPELINE_CACHE_PATH"};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The folders in which drivers keep what they compile.
std::vector<fs::path> cache_folders() {
    std::vector<fs::path> folders;
    for (const char* name : kCacheVariables)
        if (const std::string folder = variable(name); !folder.empty()) folders.emplace_back(folder);
    const fs::path home = variable("HOME");
    fs::path caches = variable("XDG_CACHE_HOME");
    if (!home.empty()) folders.push_back(home / ".nv");
    if (caches.empty() && !home.empty()) caches = home / ".cache";
    if (!caches.empty())
        for (const char* name : kCaches) folders.push_back(caches / name);
    return folders;
}

void add_files_of_drivers(FileRights& rights) {
    rights.readable.insert(rights.readable.end(), kLibraries.begin(), kLibraries.end());
    rights.readable.insert(rights.readable.end(), kSettings.begin(), kSettings.end());
    std::istringstream folders(variable("LD_LIBRARY_PATH"));
    for (std::string folder; std::getline(folders, folder, ':');)
        if (!folder.empty()) rights.readable.push_back(folder);
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/dev", error)) {
        const std::string name = entry.path().filename();
        if (std::ranges::any_of(kDevices, [&](std::string_view start) { return name.starts_with(start); }))
            rights.writable.push_back(entry.path());
    }
    for (const fs::path& folder : cache_folders()) rights.writable.push_back(folder);
}

} // namespace

FileRights files_of_engine(const std::string& state_file, const std::string& slot_dir, bool has_gpu) {
    FileRights rights{.readable = {kReadable.begin(), kReadable.end()}, .writable = {}};
    if (has_gpu) add_files_of_drivers(rights);
    if (!state_file.empty()) rights.writable.push_back(fs::path(state_file).parent_path());
    if (!slot_dir.empty()) rights.writable.emplace_back(slot_dir);
    return rights;
}

} // namespace process
#endif
