// Writes a model's file in another quantization. What it does takes minutes and cannot be stopped, and of some damaged
// files llama.cpp ends the process: it belongs into a process of its own.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llama_rt {

struct QuantizeOptions {
    /// A GGUF file; of a split model the first part.
    std::string input;
    /// One file, also where the input has several. Overwritten.
    std::string output;
    /// llama.cpp's number of the whole file's type (llama_ftype).
    int32_t file_type;
    int32_t threads;
    bool allow_requantize;
    /// An importance matrix's file as imatrix.h or llama.cpp's own tool writes it; empty for none.
    std::string imatrix;
};

/// What quantize() would write as tensors, in bytes, to a hundredth of a MiB. Reads the file's head alone.
base::Result<double> plan_quantization(const QuantizeOptions& options);

/// `on_tensor` is called on this thread with the name of each tensor before it is worked on. When it fails, a part of the
/// output may be there: `engine_failed` where it could not be written, `invalid_argument` for an importance matrix that
/// does not fit or is missing, and what Model::load() says of a file that it cannot read.
base::Result<void> quantize(const QuantizeOptions& options,
                            const std::function<void(const std::string& name)>& on_tensor);

} // namespace llama_rt
