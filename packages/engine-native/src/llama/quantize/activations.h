// Observes the computation of a graph and sums the squares of what each weight matrix is multiplied by. Counts the same products
// as llama.cpp's tools/imatrix.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ggml.h"

namespace llama_rt {

/// What one weight tensor was multiplied by. The tensor is a matrix, or a stack of them (one for each expert).
struct Activations {
    /// Sums of squares by column, matrix after matrix.
    std::vector<float> sums;
    /// Number of vectors in the sums: one for each matrix, or one for all.
    std::vector<int64_t> counts;
};

class ActivationCollector {
public:
    /// For llama_context_params::cb_eval, with the collector as its data.
    static bool on_tensor(ggml_tensor* tensor, bool is_question, void* collector);

    /// By weight name.
    const std::map<std::string, Activations>& found() const { return found_; }

private:
    void collect(const ggml_tensor& product);
    void collect_matrix(const ggml_tensor& product, const char* data);
    void collect_experts(const ggml_tensor& product, const char* data);
    Activations& entry(const ggml_tensor& product, size_t counts);

    std::map<std::string, Activations> found_;
    /// Buffers for copies from device memory, reused.
    std::vector<char> vectors_;
    std::vector<char> chosen_;
};

} // namespace llama_rt
