// Writes a model file in another quantization. Run it in a process of its own: it takes minutes, cannot be stopped, and
// llama.cpp ends the process for some damaged files.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/backend.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llama {

struct QuantizeOptions {
    /// Path of a GGUF file; for a split model, of the first part.
    std::string input;
    /// Path of the file to write, one even for a split model; overwritten if it exists.
    std::string output;
    /// The target quantization as llama.cpp's number (llama_ftype).
    int32_t file_type;
    int32_t threads;
    bool allow_requantize;
    /// Path of an importance matrix written by imatrix.h or llama.cpp's own tool; empty for none.
    std::string imatrix;
};

constexpr auto fields_of(const QuantizeOptions*) {
    return base::rows(base::field("input", &QuantizeOptions::input),
                      base::field("output", &QuantizeOptions::output),
                      base::field("fileType", &QuantizeOptions::file_type, {.min = 0}),
                      base::field("threads", &QuantizeOptions::threads, kThreads),
                      base::field("allowRequantize", &QuantizeOptions::allow_requantize),
                      base::field("imatrix", &QuantizeOptions::imatrix));
}

/// Bytes of all tensors that quantize() would write, to a hundredth of a MiB. Reads only the file's header. Fails as quantize()
/// does.
base::Result<double> plan_quantization(const QuantizeOptions& options);

/// Quantizes the file. Calls `on_tensor` on this thread with each tensor's name before it is quantized. `engine_failed` if the
/// output cannot be written, `invalid_argument` for an importance matrix that does not fit or is missing; otherwise fails as
/// Model::load() does. A failure may leave a partial output file.
base::Result<void> quantize(const QuantizeOptions& options,
                            const std::function<void(const std::string& name)>& on_tensor);

} // namespace llama
