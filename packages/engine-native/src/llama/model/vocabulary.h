// Whether two models mean the same by a token, so that one can guess for the other.
#pragma once

#include "base/result.h"

#include <cstdint>

namespace llama_rt {

class Model;

/// Tokens 0 … n - 1 that both models have: n. `invalid_argument`, with the reason, when they are not the same ones.
base::Result<int32_t> common_vocabulary(const Model& target, const Model& draft);

} // namespace llama_rt
