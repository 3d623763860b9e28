#include "llama/quantize/activations.h"

#include "base/result.h"

#include <cstring>
#include <string_view>

#include "ggml-backend.h"

namespace llama_rt {

namespace {

/// Products with fewer vectors than this are not part of reading a text; llama.cpp's own tool skips them too.
constexpr int64_t kVectorsMin = 16;

/// The weights' name in the file. Copies on a device have names such as "CUDA0#blk.0.attn_k.weight#0".
std::string weights_name(const ggml_tensor& product) {
    const std::string_view name(ggml_get_name(product.src[0]));
    const size_t mark = name.find('#');
    if (mark == std::string_view::npos) return std::string(name);
    const std::string_view rest = name.substr(mark + 1);
    return std::string(rest.substr(0, rest.find('#')));
}

/// Whether this is a product of a layer's weights and many vectors. Attention's own products have no weights.
bool is_wanted(const ggml_tensor& product) {
    const ggml_tensor* vectors = product.src[1];
    if (product.op != GGML_OP_MUL_MAT && product.op != GGML_OP_MUL_MAT_ID) return false;
    if (vectors->type != GGML_TYPE_F32 || vectors->nb[0] != sizeof(float)) return false;
    if (product.op == GGML_OP_MUL_MAT_ID) return true;
    return vectors->ne[1] >= kVectorsMin && weights_name(product).starts_with("blk.");
}

const char* read_tensor(const ggml_tensor& tensor, std::vector<char>& copy) {
    if (ggml_backend_buffer_is_host(tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer))
        return static_cast<const char*>(tensor.data);
    copy.resize(ggml_nbytes(&tensor));
    ggml_backend_tensor_get(&tensor, copy.data(), 0, copy.size());
    return copy.data();
}

void add_squares(const char* vector, float* sums, int64_t columns) {
    const auto* values = reinterpret_cast<const float*>(vector);
    for (int64_t column = 0; column < columns; ++column) sums[column] += values[column] * values[column];
}

} // namespace

bool ActivationCollector::on_tensor(ggml_tensor* tensor, bool is_question, void* collector) {
    if (is_question) return is_wanted(*tensor);
    static_cast<ActivationCollector*>(collector)->collect(*tensor);
    return true; // continue the computation
}

void ActivationCollector::collect(const ggml_tensor& product) {
    const char* data = read_tensor(*product.src[1], vectors_);
    if (product.op == GGML_OP_MUL_MAT_ID) collect_experts(product, data);
    else collect_matrix(product, data);
}

void ActivationCollector::collect_matrix(const ggml_tensor& product, const char* data) {
    const ggml_tensor& weights = *product.src[0];
    const ggml_tensor& vectors = *product.src[1];
    const int64_t matrices = weights.ne[2] * weights.ne[3];
    const int64_t columns = vectors.ne[0];
    Activations& to = entry(product, 1);
    for (int64_t i3 = 0; i3 < vectors.ne[3]; ++i3) {
        for (int64_t i2 = 0; i2 < vectors.ne[2]; ++i2) {
            // If there are more stacks of vectors than matrices, they share matrices.
            const int64_t matrix = (i3 % weights.ne[3]) * weights.ne[2] + i2 % weights.ne[2];
            const char* stack =
                data + static_cast<size_t>(i3) * vectors.nb[3] + static_cast<size_t>(i2) * vectors.nb[2];
            for (int64_t row = 0; row < vectors.ne[1]; ++row)
                add_squares(stack + static_cast<size_t>(row) * vectors.nb[1],
                            to.sums.data() + matrix * columns, columns);
        }
    }
    for (int64_t& count : to.counts) count += ggml_nrows(&vectors) / matrices;
}

/// The product's third source says which expert each vector went to: one row per token, one column per expert used.
void ActivationCollector::collect_experts(const ggml_tensor& product, const char* data) {
    const ggml_tensor& vectors = *product.src[1];
    const ggml_tensor& ids = *product.src[2];
    const int64_t experts = product.src[0]->ne[2];
    const int64_t columns = vectors.ne[0];
    INGLE_ASSERT(ids.ne[1] == vectors.ne[2]);
    Activations& to = entry(product, static_cast<size_t>(experts));
    const char* chosen = read_tensor(ids, chosen_);
    for (int64_t token = 0; token < ids.ne[1]; ++token) {
        for (int64_t use = 0; use < ids.ne[0]; ++use) {
            int32_t expert = 0;
            std::memcpy(&expert,
                        chosen + static_cast<size_t>(token) * ids.nb[1] +
                            static_cast<size_t>(use) * ids.nb[0],
                        sizeof expert);
            const auto at = static_cast<size_t>(use % vectors.ne[1]) * vectors.nb[1] +
                            static_cast<size_t>(token) * vectors.nb[2];
            INGLE_ASSERT(expert >= 0 && expert < experts);
            ++to.counts[static_cast<size_t>(expert)];
            add_squares(data + at, to.sums.data() + expert * columns, columns);
        }
    }
}

/// The entry of the product's weights, created if missing, with at least `counts` counts.
Activations& ActivationCollector::entry(const ggml_tensor& product, size_t counts) {
    const ggml_tensor& weights = *product.src[0];
    const auto sums = static_cast<size_t>(weights.ne[0] * weights.ne[2] * weights.ne[3]);
    Activations& activations = found_[weights_name(product)];
    if (activations.sums.empty()) activations = {.sums = std::vector<float>(sums), .counts = {0}};
    INGLE_ASSERT(activations.sums.size() == sums);
    // Weights used in both kinds of products: the one count for all matrices becomes one for each.
    if (activations.counts.size() < counts) activations.counts.resize(counts, activations.counts.front());
    return activations;
}

} // namespace llama_rt
