// New files that hold people's conversations. Here because only this folder may use the system's own headers; used by
// engine/state_file.cpp.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>

namespace llama_rt {

struct FileCloser {
    void operator()(std::FILE* file) const {
        std::fclose(file);
    } // NOLINT: who asks how it went closes it before
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

/// A new file for writing that only its owner may read, from its first moment on. What lay there (a process that was killed
/// has left it, or somebody has planted it) goes, and whoever has that open reads nothing of what is written now. Null when
/// it cannot be made.
FilePtr create_private_file(const std::filesystem::path& path);

} // namespace llama_rt
