// Speculators: files with layers that draft for another model, from the hidden states before some of its layers. EAGLE-3
// (arXiv:2503.01840) drafts one token after the other; DFlash and DSpark draft a block of tokens at once. llama.cpp computes them in
// src/models/eagle3.cpp and dflash.cpp.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct llama_model;

namespace llama {

class Model;

struct Speculator {
    /// The other model's layers whose input it reads; the number of that model's layers stands for the last one's output.
    std::vector<int32_t> layers;
    /// The width of each of these states.
    int32_t width;
    /// The most tokens that it drafts at once; 0 if it drafts one after the other.
    int32_t block_drafts;

    // ---- of speculators that draft a block ----

    /// Stands for the block's tokens after its first one, which is the text's last token.
    base::Token mask = -1;
    /// Whether its first token predicts the first draft. If not, that is what the first mask does.
    bool predicts_from_first = false;
    /// Whether a token of a block attends only to those before it.
    bool is_causal = false;
};

/// Absent for the file of a model. An outline has no weights, which are not checked then. `model_invalid`, and `model_unsupported` for
/// drafts that are computed differently.
base::Result<std::optional<Speculator>> read_speculator(const llama_model* model, const std::string& path,
                                                        bool is_outline);

/// The number of tokens that both vocabularies share. `invalid_argument` if the speculator was trained for another model.
base::Result<int32_t> check_speculator(const Model& speculator, const Model& target);

/// The number of a model's own layers that draft: layers for multi-token prediction (MTP) that were loaded and that llama.cpp computes. A file may declare such layers and lack
/// their tensors, or have them in an architecture, or in a number, that llama.cpp does not compute.
int32_t mtp_layers(const llama_model* model);

} // namespace llama
