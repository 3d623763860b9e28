// The types that a KV cache can have, by the names that ggml gives them, and which of them a model can use where it lies.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace llama_rt {

class Model;

/// The names, those of more bits first. With llama.cpp's sources of one's own, only what these know.
std::vector<std::string> kv_type_names();

/// The ggml type of that name, when it may hold a KV cache; else -1.
int kv_type_from_name(const std::string& name);

/// That both names are types and that all devices of the model compute with them. `q3_kv` is ours: the processor has it
/// for all models whose heads are multiples of 64, CUDA for keys and values together, no other device has it.
base::Result<void> check_kv_types(const Model& model, const std::string& name_k, const std::string& name_v);

} // namespace llama_rt
