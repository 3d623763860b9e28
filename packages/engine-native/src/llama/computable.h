// What ggml's processor backend asserts of an operation only when it computes it: on threads of its own, where nothing can be thrown
// (assertions.h). Asked before, of what a stranger's file decides: by Vision.
#pragma once

#include <optional>
#include <string>

#include "ggml.h"

namespace llama_rt {

/**
 * Why the processor would end the process over this operation of a graph that is about to be computed; nothing when it would not,
 * or when another device computes it. Looks at what weights can be wrong about: their types, numbers of the header that
 * became parameters, and how many rows a table has. Shapes have been compared by then, as the graph was made.
 */
std::optional<std::string> not_computable(const ggml_tensor& node);

} // namespace llama_rt
