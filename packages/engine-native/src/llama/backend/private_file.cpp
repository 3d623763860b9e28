#include "llama/backend/private_file.h"

#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace llama_rt {

FilePtr create_private_file(const std::filesystem::path& path) {
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

} // namespace llama_rt
