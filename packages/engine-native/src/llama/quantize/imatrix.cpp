#include "llama/quantize/imatrix.h"

#include "imatrix-loader.h"
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ggml-cpp.h"

namespace llama {

using base::Code;
using base::Token;

namespace {

/// What one weight tensor was multiplied by. The tensor is a matrix, or a stack of them (one for each expert).
struct Activations {
    /// Sums of squares by column, matrix after matrix.
    std::vector<float> sums;
    /// Number of vectors in the sums: one for each matrix, or one for all.
    std::vector<int64_t> counts;
};

/// By weight name.
using Found = std::map<std::string, Activations>;

/// Observes the computation of a graph and sums the squares of what each weight matrix is multiplied by. Counts the same products
/// as llama.cpp's tools/imatrix.
class ActivationCollector {
public:
    /// For llama_context_params::cb_eval, with the collector as its data.
    static bool on_tensor(ggml_tensor* tensor, bool is_question, void* collector);

    const Found& found() const { return found_; }

private:
    void collect(const ggml_tensor& product);
    void collect_matrix(const ggml_tensor& product, const char* data);
    void collect_experts(const ggml_tensor& product, const char* data);
    Activations& entry(const ggml_tensor& product, size_t counts);

    Found found_;
    /// Buffers for copies from device memory, reused.
    std::vector<char> vectors_;
    std::vector<char> chosen_;
};

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
    if (is_on_host(tensor)) return static_cast<const char*>(tensor.data);
    copy.resize(ggml_nbytes(&tensor));
    ggml_backend_tensor_get(&tensor, copy.data(), 0, copy.size());
    return copy.data();
}

void add_squares(const char* vector, float* sums, int64_t columns) {
    const auto* values = reinterpret_cast<const float*>(vector);
    for (int64_t column = 0; column < columns; ++column) sums[column] += values[column] * values[column];
}

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

/// The text's tokens, cut to whole chunks.
base::Result<std::vector<Token>> tokens_of(const Model& model, const ImatrixOptions& options) {
    base::Result<std::vector<Token>> tokens = model.tokenize(options.text, true, false);
    if (!tokens) return tokens;
    const auto chunk = static_cast<size_t>(options.chunk_tokens);
    if (tokens->size() < chunk)
        return base::wrong_option("text", "It has " + std::to_string(tokens->size()) +
                                              " tokens, and a chunk has " + std::to_string(chunk) +
                                              ". Use a longer text or smaller chunks.");
    const size_t chunks = tokens->size() / chunk;
    const size_t wanted =
        options.chunks_max == 0 ? chunks : std::min(chunks, static_cast<size_t>(options.chunks_max));
    tokens->resize(wanted * chunk);
    return tokens;
}

/// Computes one chunk at a time, each in an empty context.
class ActivationReader {
public:
    ActivationReader(std::shared_ptr<const Model> model, const ImatrixOptions& options,
                     ActivationCollector& collector)
        : model_(std::move(model)), chunk_(options.chunk_tokens) {
        llama_context_params params = llama_context_default_params();
        params.n_ctx = params.n_batch = params.n_ubatch = static_cast<uint32_t>(chunk_);
        params.n_threads = params.n_threads_batch = options.threads;
        // Every token has an output, so that the last layer is computed for all of them. Embeddings are enough: logits would
        // take far more memory.
        params.embeddings = true;
        params.pooling_type = LLAMA_POOLING_TYPE_NONE;
        params.no_perf = true;
        params.cb_eval = ActivationCollector::on_tensor;
        params.cb_eval_user_data = &collector;
        context_.reset(llama_init_from_model(model_->raw(), params));
        if (context_ == nullptr) return;
        // The graph is computed in hundreds of pieces: without a thread pool, ggml would start threads for each.
        threadpool_ = make_threadpool(options.threads);
        llama_attach_threadpool(context_.get(), threadpool_.get(), nullptr);
    }

    bool is_ready() const { return context_ != nullptr; }

    bool read(std::span<Token> tokens) {
        llama_memory_clear(llama_get_memory(context_.get()), true);
        // Models expect every text to begin with it.
        if (model_->info().adds_bos) tokens.front() = model_->info().tokens.bos;
        return llama_decode(context_.get(), llama_batch_get_one(tokens.data(), chunk_)) == 0;
    }

private:
    // Destroyed in reverse: the context goes before the thread pool and the model that it uses.
    std::shared_ptr<const Model> model_;
    int32_t chunk_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
};

base::Result<int32_t> read_text(std::shared_ptr<const Model> model, const ImatrixOptions& options,
                                ActivationCollector& collector,
                                const std::function<void(int32_t, int32_t)>& on_chunk) {
    base::Result<std::vector<Token>> tokens = tokens_of(*model, options);
    if (!tokens) return std::unexpected(tokens.error());
    ErrorLines errors;
    ActivationReader reader(std::move(model), options, collector);
    if (!reader.is_ready())
        return base::fail(Code::engine_failed,
                          "The context for the text could not be created: " + errors.text());
    const auto chunk = static_cast<size_t>(options.chunk_tokens);
    const auto chunks = static_cast<int32_t>(tokens->size() / chunk);
    for (int32_t done = 0; done < chunks; ++done) {
        on_chunk(done, chunks);
        const bool is_read =
            reader.read(std::span(*tokens).subspan(static_cast<size_t>(done) * chunk, chunk));
        if (!is_read)
            return base::fail(Code::engine_failed, "The text could not be computed: " + errors.text());
    }
    on_chunk(chunks, chunks);
    return chunks;
}

/// The name of the first weights with a sum that is not finite; empty if there are none.
std::string broken_in(const Found& found) {
    for (const auto& [name, one] : found) {
        if (!std::ranges::all_of(one.sums, [](float sum) { return std::isfinite(sum); })) return name;
    }
    return {};
}

/// Adds a tensor of `rows` rows to the file. Copies the numbers.
template <class Number>
void add_tensor(gguf_context* file, ggml_context* tensors, const std::string& name,
                const std::vector<Number>& numbers, size_t rows) {
    ggml_tensor* tensor = ggml_new_tensor_2d(
        tensors, GGML_TYPE_F32, static_cast<int64_t>(numbers.size() / rows), static_cast<int64_t>(rows));
    ggml_set_name(tensor, name.c_str());
    std::ranges::transform(numbers, static_cast<float*>(tensor->data),
                           [](Number number) { return static_cast<float>(number); });
    gguf_add_tensor(file, tensor);
}

/// Writes the file with the keys and names of llama.cpp's tools/imatrix. False if it cannot be written.
bool write_imatrix(const ImatrixOptions& options, const Found& found, int32_t chunks) {
    size_t bytes = 0;
    for (const auto& [name, one] : found)
        bytes += 2 * (ggml_tensor_overhead() + GGML_MEM_ALIGN) +
                 sizeof(float) * (one.sums.size() + one.counts.size());
    const ggml_context_ptr tensors(ggml_init({.mem_size = bytes, .mem_buffer = nullptr, .no_alloc = false}));
    const gguf_context_ptr file(gguf_init_empty());
    if (tensors == nullptr || file == nullptr) return false;
    const char* dataset = options.dataset.c_str();
    gguf_set_val_str(file.get(), "general.type", "imatrix");
    gguf_set_arr_str(file.get(), LLM_KV_IMATRIX_DATASETS, &dataset, options.dataset.empty() ? 0 : 1);
    gguf_set_val_u32(file.get(), LLM_KV_IMATRIX_CHUNK_COUNT, static_cast<uint32_t>(chunks));
    gguf_set_val_u32(file.get(), LLM_KV_IMATRIX_CHUNK_SIZE, static_cast<uint32_t>(options.chunk_tokens));
    for (const auto& [name, one] : found) {
        add_tensor(file.get(), tensors.get(), name + ".in_sum2", one.sums, one.counts.size());
        add_tensor(file.get(), tensors.get(), name + ".counts", one.counts, one.counts.size());
    }
    return gguf_write_to_file(file.get(), options.output.c_str(), false);
}

} // namespace

base::Result<ImatrixResult> compute_imatrix(const ImatrixOptions& options,
                                            const std::function<void(int32_t, int32_t)>& on_chunk) {
    const std::atomic<bool> is_aborted = false;
    auto model = Model::load(options.model, [](float) {}, is_aborted);
    if (!model) return std::unexpected(model.error());
    if ((*model)->info().has_encoder_half)
        return base::fail(Code::generation_not_supported,
                          "This is an encoder-decoder model, which is not supported.");
    ActivationCollector collector;
    const base::Result<int32_t> chunks = read_text(std::move(*model), options, collector, on_chunk);
    if (!chunks) return std::unexpected(chunks.error());
    if (const std::string name = broken_in(collector.found()); !name.empty())
        return base::fail(Code::model_invalid, options.model.path +
                                                   " computes NaN or infinite values before " + name +
                                                   ". The file may be damaged; download it again.");
    if (!write_imatrix(options, collector.found(), *chunks))
        return base::fail(Code::engine_failed,
                          "The importance matrix could not be written to " + options.output + ".");
    return ImatrixResult{.chunks = *chunks, .matrices = static_cast<int32_t>(collector.found().size())};
}

} // namespace llama
