// Drops the rights of this process that an engine does not need, so that a bug in code that reads untrusted files can do less harm:
// system calls (confinement.cpp), files (landlock.cpp, engine_files.cpp), on all its threads (every_thread.cpp).
#pragma once

#include <string>
#include <vector>

namespace process {

/// Permanent, for all threads. Call it once the engine has started: by then, GPU drivers have opened what they need. Afterwards, files
/// can only be written beside the state file and in the folder of slots, if these are not empty, and in the caches of GPU drivers.
/// `has_gpu`: whether drivers may still open files. Returns what is restricted now, in words for a log; nothing on systems other than
/// Linux.
std::vector<std::string> confine_process(const std::string& state_file, const std::string& slot_dir,
                                         bool has_gpu);

/// What this process may still open.
struct FileRights {
    /// Files and whole folders. Those that do not exist are skipped.
    std::vector<std::string> readable;
    /// As well as readable: files may also be created and removed.
    std::vector<std::string> writable;
};

/// What an engine opens once its models are loaded: little without a GPU, and with one, what drivers open lazily. `state_file` is written
/// when the engine ends, and files in `slot_dir` at any time; both may be empty, for none. Linux only.
FileRights files_of_engine(const std::string& state_file, const std::string& slot_dir, bool has_gpu);

/// Permanent, for all threads and their children; open files stay usable. Returns what this kernel restricts, in words for a log: nothing
/// without Landlock. Needs no_new_privs on all threads. Linux only.
std::vector<std::string> restrict_with_landlock(const FileRights& rights);

/// Interrupts each other thread for one call of `function`, which must be async-signal-safe and returns whether it succeeded. Threads
/// that start meanwhile are called too, unless a thread that was called has started them. Returns whether all calls succeeded; a
/// thread that does not respond within a second counts as failed. Not reentrant. Linux only.
bool on_every_thread(bool (*function)());

} // namespace process
