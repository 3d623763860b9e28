// Collects an importance matrix: runs a model over a text and adds up, for every weight matrix and each of its columns,
// the squares of what the column was multiplied by. The file is the GGUF form of llama.cpp's tools/imatrix; quantize.h and
// that project's own tools read it.
#pragma once

#include "base/result.h"
#include "llama/model/model.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llama_rt {

struct ImatrixOptions {
    ModelOptions model;
    /// Overwritten.
    std::string output;
    std::string text;
    /// What the file says the text was; empty to say nothing.
    std::string dataset;
    /// Tokens that are computed together, with nothing before them. What is left of the text behind the last whole chunk is
    /// not used.
    int32_t chunk_tokens;
    /// Most chunks; 0 takes all of the text.
    int32_t chunks_max;
    int32_t threads;
};

struct ImatrixResult {
    int32_t chunks;
    int32_t matrices;
};

/// `on_chunk` is called on this thread with the chunks that are done, of how many. Fails with what Model::load() says;
/// `invalid_argument` for a text that is shorter than one chunk; `model_invalid` where the model computes something that is
/// no number; `engine_failed` where the file cannot be written.
base::Result<ImatrixResult> compute_imatrix(const ImatrixOptions& options,
                                            const std::function<void(int32_t, int32_t)>& on_chunk);

} // namespace llama_rt
