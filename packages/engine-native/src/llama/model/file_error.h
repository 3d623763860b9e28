// Turns what llama.cpp says about a model file into an error of ours.
#pragma once

#include "base/result.h"

#include <string>

namespace llama_rt {

/// `reason` is llama.cpp's message, whose wording is the only thing that tells failures apart. `model_unsupported` for unknown
/// architectures, `out_of_memory` for failed allocations, otherwise `model_invalid`.
base::Error file_error(const std::string& path, const std::string& reason);

} // namespace llama_rt
