// Computes an importance matrix: runs a model over a text and sums, for each column of every weight matrix, the squares of what
// the column was multiplied by. Writes the GGUF format of llama.cpp's tools/imatrix, which quantize.h and llama.cpp's own tools
// read.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <cstdint>
#include <functional>
#include <string>

namespace llama {

struct ImatrixOptions {
    ModelOptions model;
    /// Path of the file to write; overwritten if it exists.
    std::string output;
    std::string text;
    /// Name of the text, stored in the file; empty for none.
    std::string dataset;
    /// Tokens of a chunk, which is computed without what precedes it. Text after the last whole chunk is not used.
    int32_t chunk_tokens;
    /// Maximum number of chunks; 0 uses the whole text.
    int32_t chunks_max;
    int32_t threads;
};

constexpr auto fields_of(const ImatrixOptions*) {
    return base::rows(
        base::field("model", &ImatrixOptions::model), base::field("output", &ImatrixOptions::output),
        base::field("text", &ImatrixOptions::text), base::field("dataset", &ImatrixOptions::dataset),
        base::field("chunkTokens", &ImatrixOptions::chunk_tokens, {.min = 16, .max = 1 << 20}),
        base::field("chunksMax", &ImatrixOptions::chunks_max, {.min = 0}),
        base::field("threads", &ImatrixOptions::threads, kThreads));
}

struct ImatrixResult {
    /// Chunks that were computed.
    int32_t chunks;
    /// Weight tensors in the file.
    int32_t matrices;
};

constexpr auto fields_of(const ImatrixResult*) {
    return base::rows(base::field("chunks", &ImatrixResult::chunks),
                      base::field("matrices", &ImatrixResult::matrices));
}

/// Calls `on_chunk` on this thread with the number of chunks done and of all chunks. Fails as Model::load() does;
/// `generation_not_supported` for an encoder-decoder model; `invalid_argument` if the text is shorter than one chunk;
/// `model_invalid` if the model computes values that are not finite; `engine_failed` if a chunk cannot be computed or the file
/// cannot be written.
base::Result<ImatrixResult> compute_imatrix(const ImatrixOptions& options,
                                            const std::function<void(int32_t, int32_t)>& on_chunk);

} // namespace llama
