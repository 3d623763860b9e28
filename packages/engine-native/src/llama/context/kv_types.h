// How keys and values are stored: the ggml types for it, whether they suit a model's heads and the devices of its layers, and
// how many bytes a token takes.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

#include "ggml.h"

namespace llama {

class Model;

struct KvTypes {
    ggml_type k;
    ggml_type v;
};

/// The names of the types, those with more bits first.
std::vector<std::string> kv_type_names();

/// The ggml type of this name; -1 if it is not a KV cache type.
int kv_type_from_name(const std::string& name);

/// The types of these names, checked for this model. `invalid_argument` if a name is unknown, a type's blocks do not divide the
/// model's heads, flash attention is "off" but the values need it, or a layer's device has no kernel for the types;
/// `model_invalid` for heads of an implausible size.
base::Result<KvTypes> kv_types(const Model& model, const std::string& k, const std::string& v,
                               const std::string& flash_attention);

/// Bytes of one token's keys and values in all layers; 0 if no layer keeps any.
uint64_t kv_token_bytes(const Model& model, KvTypes types);

/// Bytes of one sequence's recurrent state in all layers; 0 if no layer has any.
uint64_t recurrent_state_bytes(const Model& model);

} // namespace llama
