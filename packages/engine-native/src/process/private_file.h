// Creates files that hold users' conversations. Here because only this folder may include the system's headers.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace process {

struct FileCloser {
    void operator()(std::FILE* file) const {
        std::fclose(file);
    } // NOLINT: code that needs the result closes the file itself
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

/// Creates a file for writing that only its owner may read, from the start. An existing file (left by a killed process, or
/// planted) is removed first, so that a process that has it open cannot read what is written now. Null if the file cannot be
/// created.
inline FilePtr create_private_file(const std::filesystem::path& path) {
    std::error_code ignored; // if the file is still there, opening it below fails
    std::filesystem::remove(path, ignored);
#ifdef _WIN32
    const int file =
        _wopen(path.c_str(), _O_CREAT | _O_EXCL | _O_WRONLY | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    return FilePtr(file < 0 ? nullptr : _fdopen(file, "wb"));
#else
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return FilePtr(file < 0 ? nullptr : fdopen(file, "wb"));
#endif
}

} // namespace process
