// Looks on while a graph is computed and adds up the squares of what each weight matrix is multiplied by. Used by
// imatrix.cpp; what is counted and what is not follows llama.cpp's tools/imatrix.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ggml.h"

namespace llama_rt {

/// Of one tensor of weights: a matrix, or a stack of them (one for each expert).
struct Activations {
    /// Sums of squares, column by column, matrix after matrix.
    std::vector<float> sums;
    /// For each matrix, or for all together, the vectors that went into the sums.
    std::vector<int64_t> counts;
};

class ActivationCollector {
public:
    /// For llama_context_params::cb_eval, with the collector as its data.
    static bool on_tensor(ggml_tensor* tensor, bool is_question, void* collector);

    /// By the names of the weights.
    const std::map<std::string, Activations>& found() const { return found_; }

private:
    void collect(const ggml_tensor& product);
    void collect_matrix(const ggml_tensor& product, const char* data);
    void collect_experts(const ggml_tensor& product, const char* data);
    Activations& entry(const ggml_tensor& product, size_t counts);

    std::map<std::string, Activations> found_;
    /// Copies from a device's memory, kept for their room.
    std::vector<char> vectors_;
    std::vector<char> chosen_;
};

} // namespace llama_rt
