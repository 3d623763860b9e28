// Drops the rights of this process that an engine does not need, so that a bug in code that reads untrusted files can do less harm.
#pragma once

#include <string>
#include <vector>

namespace llama_rt {

/// Permanent, for all threads. Call it once the engine has started: by then, GPU drivers have opened what they need. Afterwards, files
/// can only be written beside the state file and in the folder of slots, if these are not empty, and in the caches of GPU drivers. Returns what is restricted now, in
/// words for a log; nothing on systems other than Linux.
std::vector<std::string> confine_process(const std::string& state_file, const std::string& slot_folder);

} // namespace llama_rt
