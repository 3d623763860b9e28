// A first look at a model file, before llama.cpp reads it: is it there, is it GGUF, can it be whole?
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

namespace llama_rt {

struct GgufFile {
    uint64_t size_bytes;
};

/// `model_not_found` when the path cannot be opened, `model_invalid` when it is no GGUF file of a version we read.
base::Result<GgufFile> look_at_gguf(const std::string& path);

} // namespace llama_rt
