// How a model's keys and values are stored: the types of ggml that there are for it, whether two of them suit a model's
// heads and the devices of its layers, and what a token takes in them. Used for every context that is made or measured.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

#include "ggml.h"

namespace llama_rt {

class Model;

struct KvTypes {
    ggml_type k;
    ggml_type v;
};

/// The names, those of more bits first. With llama.cpp's sources of one's own, only what these know.
std::vector<std::string> kv_type_names();

/// The ggml type of that name, when it may hold a KV cache; else -1.
int kv_type_from_name(const std::string& name);

/// The types of these names, for this model. Fails where a name is unknown, where the blocks of a type do not divide the
/// model's heads, where flash attention is "off" and values need it, and where a device of a layer has no kernel for them.
base::Result<KvTypes> kv_types(const Model& model, const std::string& k, const std::string& v,
                               const std::string& flash_attention);

/// Bytes of one token's keys and values in all layers; 0 where the model has no layer that keeps any.
uint64_t kv_token_bytes(const Model& model, KvTypes types);

} // namespace llama_rt
