// Which of a model's layers predict tokens beyond the next one (multi-token prediction, MTP).
#pragma once

#include <cstdint>

struct llama_model;

namespace llama_rt {

/// The number of layers for multi-token prediction that were loaded and that llama.cpp computes. A file may declare such layers and lack
/// their tensors, or have them in an architecture, or in a number, that llama.cpp does not compute.
int32_t mtp_layers(const llama_model* model);

} // namespace llama_rt
