// llama.cpp ends the process when an assertion fails. A damaged or hostile model file must not do that, so AssertionsThrow turns
// such assertions into exceptions while a model is loaded or a context is created. What the CPU backend asserts only while it
// computes, on its own threads, where nothing can be thrown, is checked before that: not_computable().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

struct ggml_tensor;
struct llama_context;

namespace llama {

/**
 * While one lives, a failed GGML_ASSERT on this thread throws std::runtime_error with its text instead of ending the process.
 * Do not compute a graph under it: the other compute threads would wait for this one forever. Memory that the failing function
 * owned through raw pointers leaks, which we accept for a damaged file.
 */
class AssertionsThrow {
public:
    AssertionsThrow();
    ~AssertionsThrow();
    AssertionsThrow(const AssertionsThrow&) = delete;
    AssertionsThrow& operator=(const AssertionsThrow&) = delete;

private:
    bool outer_;
};

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
 * the same rules: no valid file breaks them. Needs a live AssertionsThrow.
 */
std::optional<std::string> not_computable(llama_context* context, uint32_t outputs);

} // namespace llama
