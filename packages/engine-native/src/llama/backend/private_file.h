// Creates files that hold users' conversations. Part of llama/backend because only this folder may include system headers.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>

namespace llama_rt {

struct FileCloser {
    void operator()(std::FILE* file) const {
        std::fclose(file);
    } // NOLINT: code that needs the result closes the file itself
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

/// Creates a file for writing that only its owner may read, from the start. A file that is already there (left by a killed
/// process, or planted) is removed first, so that a process that has it open cannot read what is written now. Null if the
/// file cannot be created.
FilePtr create_private_file(const std::filesystem::path& path);

} // namespace llama_rt
