// Whether two models share a vocabulary, so that one can draft for the other.
#pragma once

#include "base/result.h"

#include <cstdint>

namespace llama_rt {

class Model;

/// The number n of tokens that both models have: 0 … n - 1. `invalid_argument`, with the reason, if they differ.
base::Result<int32_t> common_vocabulary(const Model& target, const Model& draft);

} // namespace llama_rt
