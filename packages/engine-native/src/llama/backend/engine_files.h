// Which files a running engine may still open, on Linux.
#pragma once

#include "llama/backend/landlock.h"

#include <string>

namespace llama_rt {

/// What an engine opens once its models are loaded: little without a GPU, and with one, what drivers open lazily. `state_file` is written
/// when the engine ends, and files in `slot_folder` at any time; both may be empty, for none.
FileRights files_of_engine(const std::string& state_file, const std::string& slot_folder);

} // namespace llama_rt
