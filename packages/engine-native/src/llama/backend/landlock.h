// Takes access to files away from this process, and what else Linux's Landlock restricts.
#pragma once

#include <string>
#include <vector>

namespace llama_rt {

/// What this process may still open.
struct FileRights {
    /// Files and whole folders. Those that do not exist are skipped.
    std::vector<std::string> readable;
    /// As well as readable: files may also be created and removed.
    std::vector<std::string> writable;
};

/// Permanent, for all threads and their children; open files stay usable. Returns what this kernel restricts, in words for a log: nothing
/// without Landlock. Needs no_new_privs on all threads.
std::vector<std::string> restrict_with_landlock(const FileRights& rights);

} // namespace llama_rt
