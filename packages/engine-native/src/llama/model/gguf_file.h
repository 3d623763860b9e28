// Checks a model file's header before llama.cpp reads the file: it exists, it is GGUF, and its counts are plausible.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace llama_rt {

struct GgufFile {
    uint64_t size_bytes;
};

/// `model_not_found` if the path cannot be opened, `model_invalid` if it is not a GGUF file of a supported version.
base::Result<GgufFile> look_at_gguf(const std::string& path);

} // namespace llama_rt
