// What is wrong with a model's file, from the words that llama.cpp has for it.
#pragma once

#include "base/result.h"

#include <string>

namespace llama_rt {

/// `reason` is what llama.cpp said: it tells kinds of failure apart by their wording alone.
base::Error file_error(const std::string& path, const std::string& reason);

} // namespace llama_rt
