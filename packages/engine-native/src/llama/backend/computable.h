// Checks graphs before they are computed. ggml's CPU backend asserts some properties of an operation only while it computes it,
// on its own threads, where nothing can be thrown (assertions.h). What an untrusted file decides must be checked before that:
// when a context is created, and before an image is encoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "llama.h"

namespace llama_rt {

/// Whether the tensor's data, or that of the tensor it is a view of, is in host memory.
bool is_on_host(const ggml_tensor& tensor);

/**
 * Why computing this operation on the CPU would end the process; nothing if it would not. Checks what a file can get wrong:
 * types of weights, parameters from the file's header, and the number of rows of a table. llama.cpp has compared the shapes
 * when it built the graph.
 */
std::optional<std::string> not_computable(const ggml_tensor& node);

/**
 * The same for everything that a context will compute: the graph of its largest prompt batch, and the graph of one token for
 * each sequence, with at most `outputs` outputs. Computes nothing and reads no weights. Graphs for other devices are checked by
 * the same rules: no valid file breaks them. Needs a live AssertionsThrow (assertions.h).
 */
std::optional<std::string> not_computable(llama_context* context, uint32_t outputs);

} // namespace llama_rt
