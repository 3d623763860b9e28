// What ggml's processor backend asserts of an operation only when it computes it: on threads of its own, where nothing can be thrown
// (assertions.h). Asked before, of what a stranger's file decides: by Vision as a picture is encoded, by those that make a
// context as soon as it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "llama.h"

namespace llama_rt {

/// Whether its numbers, or those that it is a view of, lie where the processor computes.
bool is_on_host(const ggml_tensor& tensor);

/**
 * Why the processor would end the process over this operation of a graph; nothing when it would not. Looks at what a file can be
 * wrong about: types of weights, numbers of the header that became parameters, and how many rows a table has. Shapes have
 * been compared by then, as the graph was made.
 */
std::optional<std::string> not_computable(const ggml_tensor& node);

/**
 * The same of all that a context will compute: its graphs for as much of a prompt as it takes at once, and for one token of
 * each sequence, with at most `outputs` outputs. Nothing is computed, and no weight is read. Where another device computes, it is
 * asked all the same: what the processor cannot compute is in no sound file. Assertions have to throw meanwhile (assertions.h).
 */
std::optional<std::string> not_computable(llama_context* context, uint32_t outputs);

} // namespace llama_rt
