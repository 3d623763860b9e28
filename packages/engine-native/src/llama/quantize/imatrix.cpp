#include "llama/quantize/imatrix.h"

#include "imatrix-loader.h"
#include "llama/backend/backend.h"
#include "llama/backend/cpu_backend.h"
#include "llama/quantize/activations.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gguf.h"

namespace llama_rt {

using base::Code;
using base::Token;

namespace {

using Found = std::map<std::string, Activations>;

/// The text's tokens, cut to whole chunks.
base::Result<std::vector<Token>> tokens_of(const Model& model, const ImatrixOptions& options) {
    base::Result<std::vector<Token>> tokens = model.tokenize(options.text, true, false);
    if (!tokens) return tokens;
    const auto chunk = static_cast<size_t>(options.chunk_tokens);
    if (tokens->size() < chunk)
        return std::unexpected(base::Error{.code = Code::invalid_argument,
                                           .message = "text: It has " + std::to_string(tokens->size()) +
                                                      " tokens, and a chunk has " + std::to_string(chunk) +
                                                      ". Use a longer text or smaller chunks.",
                                           .param = "text"});
    const size_t chunks = tokens->size() / chunk;
    const size_t wanted =
        options.chunks_max == 0 ? chunks : std::min(chunks, static_cast<size_t>(options.chunks_max));
    tokens->resize(wanted * chunk);
    return tokens;
}

/// Computes one chunk at a time, each in an empty context.
class Reader {
public:
    Reader(std::shared_ptr<const Model> model, const ImatrixOptions& options, ActivationCollector& collector)
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
        batch_ = llama_batch_init(chunk_, 0, 1);
        if (context_ == nullptr) return;
        // The graph is computed in hundreds of pieces: without a thread pool, ggml would start threads for each.
        threadpool_ = make_threadpool(options.threads);
        llama_attach_threadpool(context_.get(), threadpool_.get(), nullptr);
    }
    ~Reader() { llama_batch_free(batch_); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    bool is_ready() const { return context_ != nullptr; }

    bool read(std::span<const Token> tokens) {
        llama_memory_clear(llama_get_memory(context_.get()), true);
        batch_.n_tokens = chunk_;
        for (int32_t at = 0; at < chunk_; ++at) {
            batch_.token[at] = tokens[static_cast<size_t>(at)];
            batch_.pos[at] = at;
            batch_.n_seq_id[at] = 1;
            batch_.seq_id[at][0] = 0;
            batch_.logits[at] = 1;
        }
        // Models expect every text to begin with it.
        if (model_->info().adds_bos) batch_.token[0] = model_->info().bos;
        return llama_decode(context_.get(), batch_) == 0;
    }

private:
    // Destroyed in reverse: the context goes before the thread pool and the model that it uses.
    std::shared_ptr<const Model> model_;
    int32_t chunk_;
    ThreadpoolPtr threadpool_;
    llama_context_ptr context_;
    llama_batch batch_;
};

base::Result<int32_t> read_text(std::shared_ptr<const Model> model, const ImatrixOptions& options,
                                ActivationCollector& collector,
                                const std::function<void(int32_t, int32_t)>& on_chunk) {
    const base::Result<std::vector<Token>> tokens = tokens_of(*model, options);
    if (!tokens) return std::unexpected(tokens.error());
    ErrorLines errors;
    Reader reader(std::move(model), options, collector);
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

struct GgufDeleter {
    void operator()(gguf_context* context) const { gguf_free(context); }
};
struct GgmlDeleter {
    void operator()(ggml_context* context) const { ggml_free(context); }
};

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
    const std::unique_ptr<ggml_context, GgmlDeleter> tensors(
        ggml_init({.mem_size = bytes, .mem_buffer = nullptr, .no_alloc = false}));
    const std::unique_ptr<gguf_context, GgufDeleter> file(gguf_init_empty());
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

} // namespace llama_rt
