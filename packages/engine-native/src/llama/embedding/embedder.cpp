#include "llama/embedding/embedder.h"

#include "llama/backend/backend.h"
#include "llama/context/guarded.h"
#include "llama/model/model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

// Declared in llama.cpp's src/llama-model.h, which includes nearly all of llama.cpp.
const std::vector<std::pair<std::string, ggml_tensor*>>&
llama_internal_get_tensor_map(const llama_model* model); // NOLINT

namespace llama {

using base::Code;

namespace {

/// Maximum number of texts per batch. With many short texts, attention spends most of its work on masking them from each other.
constexpr int32_t kBatchTexts = 16;

/// Maximum number of bytes for the logits that llama.cpp also computes for every token of a causal model.
constexpr int64_t kLogitBytesMax = int64_t{64} * 1024 * 1024;

base::Error not_supported(const std::string& why) {
    return {.code = Code::embeddings_not_supported,
            .message = "This model cannot compute embeddings: " + why + " Choose an embedding model."};
}

/// Whether the dense layers that some files have after pooling fit together. llama.cpp does not check this, and would end the
/// process.
bool has_sound_width(const Model& model) {
    int64_t width = llama_model_n_embd(model.raw());
    bool is_sound = true;
    const auto& tensors = llama_internal_get_tensor_map(model.raw());
    for (const std::string_view name : {"dense_2.weight", "dense_2.bias", "dense_3.weight"}) {
        const auto found =
            std::ranges::find(tensors, name, [](const auto& named) { return std::string_view(named.first); });
        if (found == tensors.end()) continue;
        const ggml_tensor& tensor = *found->second;
        is_sound = is_sound && tensor.ne[0] == width;
        if (name.ends_with(".weight")) width = tensor.ne[1];
    }
    return is_sound && width == model.info().embedding_size;
}

bool scores(Pooling pooling) {
    return pooling == Pooling::rank;
}

int32_t batch_tokens_of(const Model& model, const EmbedderOptions& options, bool takes_parts) {
    if (!takes_parts) return options.length;
    const int64_t words = std::max(model.info().vocabulary_size, 1);
    const int64_t by_logits = kLogitBytesMax / (words * static_cast<int64_t>(sizeof(float)));
    const int64_t tokens = std::min<int64_t>({by_logits, options.batch_tokens, options.length});
    return static_cast<int32_t>(std::max<int64_t>(tokens, 1));
}

/// Recurrent models get one text per batch: llama.cpp computes them one after the other anyway, and would keep a state for each.
int32_t batch_texts_of(const Model& model, int32_t batch_tokens) {
    return model.info().is_recurrent ? 1 : std::min(kBatchTexts, batch_tokens);
}

llama_context_params to_params(const EmbedderOptions& options, Pooling pooling, int32_t batch_tokens,
                               int32_t batch_texts) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = static_cast<uint32_t>(options.length);
    params.n_batch = static_cast<uint32_t>(batch_tokens);
    params.n_ubatch = static_cast<uint32_t>(batch_tokens);
    params.n_seq_max = static_cast<uint32_t>(batch_texts);
    params.n_threads = options.threads;
    params.n_threads_batch = options.threads_batch;
    params.flash_attn_type = flash_attention_type(options.flash_attention);
    params.offload_kqv = options.offloads_kv;
    apply(options.rope, params);
    params.pooling_type = scores(pooling) ? LLAMA_POOLING_TYPE_RANK : LLAMA_POOLING_TYPE_NONE;
    params.embeddings = true;
    params.kv_unified = true;
    params.no_perf = true;
    return params;
}

base::Error out_of_memory() {
    return {.code = Code::out_of_memory,
            .message =
                "There is not enough memory for embeddings of texts of this length. Send shorter texts, or "
                "load the model with a shorter context."};
}

} // namespace

base::Result<Pooling> Embedder::pooling_of(const Model& model) {
    const ModelInfo& info = model.info();
    const auto fail = [](const char* why) { return std::unexpected(not_supported(why)); };
    if (!has_sound_width(model)) return fail("the sizes of the layers in its file do not match.");
    switch (info.pooling) {
        case Pooling::mean:
        case Pooling::first:
        case Pooling::last: return info.pooling;
        case Pooling::rank:
            if (info.is_reranker) return info.pooling;
            return fail("it is a reranker, and its file has no classifier.");
        case Pooling::unknown: return fail("its file specifies an unknown pooling type.");
        case Pooling::none: break;
    }
    // A generative model can make embeddings too: the mean over all tokens.
    if (info.is_causal) return Pooling::mean;
    return fail("it makes a vector for each token, and its file does not specify how to pool them.");
}

int32_t Embedder::vector_size(const Model& model) {
    return model.info().is_reranker ? 1 : model.info().embedding_size;
}

base::Result<std::vector<MemoryUse>> Embedder::measure(const Model& model, const EmbedderOptions& options) {
    const Pooling pooling = pooling_of(model).value_or(Pooling::none);
    int32_t batch_tokens = 0;
    const auto measured = [&](bool takes_parts) {
        batch_tokens = batch_tokens_of(model, options, takes_parts);
        return llama::measure(model,
                              to_params(options, pooling, batch_tokens, batch_texts_of(model, batch_tokens)));
    };
    const auto has_cache = [](const MemoryUse& use) { return use.context > 0; };
    auto uses = measured(model.info().is_causal);
    if (uses && model.info().is_causal && std::ranges::none_of(*uses, has_cache)) uses = measured(false);
    if (!uses) return uses;
    for (MemoryUse& use : *uses) use.weights = 0;
    // llama.cpp allocates the outputs only when it computes them.
    const auto rows = static_cast<uint64_t>(batch_tokens);
    const auto width = static_cast<uint64_t>(model.info().embedding_size);
    add_uses(*uses, {{.device = "", .compute = rows * width * sizeof(float)}});
    std::erase_if(*uses, [](const MemoryUse& use) { return use.context + use.compute == 0; });
    return uses;
}

base::Result<std::unique_ptr<Embedder>> Embedder::create(std::shared_ptr<const Model> model,
                                                         const EmbedderOptions& options,
                                                         ThreadpoolPtr threadpool,
                                                         const std::atomic<bool>& is_aborted) {
    const base::Result<Pooling> pooling = pooling_of(*model);
    if (!pooling) return std::unexpected(pooling.error());
    const auto create = [&] {
        const auto make = [&](bool takes_parts) {
            return std::unique_ptr<Embedder>(
                new Embedder(model, options, *pooling, takes_parts, threadpool, is_aborted));
        };
        std::unique_ptr<Embedder> embedder = make(model->info().is_causal);
        // Some encoders have no key that says so. They have no KV cache, so a text cannot be given in parts.
        if (embedder->takes_parts() && llama_get_memory(embedder->context_.get()) == nullptr)
            embedder = make(false);
        check_computable(embedder->context_.get(), static_cast<uint32_t>(embedder->batch_tokens_));
        return embedder;
    };
    return guarded_create<Embedder>(*model, create, out_of_memory);
}

Embedder::Embedder(std::shared_ptr<const Model> model, const EmbedderOptions& options, Pooling pooling,
                   bool takes_parts, ThreadpoolPtr threadpool, const std::atomic<bool>& is_aborted)
    : is_aborted_(is_aborted),
      model_(std::move(model)),
      pooling_(pooling),
      takes_parts_(takes_parts),
      length_max_(options.length),
      batch_tokens_(batch_tokens_of(*model_, options, takes_parts)),
      batch_texts_(batch_texts_of(*model_, batch_tokens_)),
      threadpool_(std::move(threadpool)) {
    context_ = new_context(*model_, to_params(options, pooling_, batch_tokens_, batch_texts_));
    attach(context_.get(), threadpool_.get(), is_aborted_);
    batch_ = llama_batch_init(batch_tokens_, 0, 1);
}

Embedder::~Embedder() {
    llama_batch_free(batch_);
}

Decoded Embedder::compute(std::span<const TextPart> parts) {
    thread_.check();
    fill(parts);
    return guarded_compute(*model_, is_aborted_, [&] {
        if (parts.front().first == 0) llama_memory_clear(llama_get_memory(context_.get()), false);
        const Decoded decoded = meaning_of(decode_batch(*model_, context_.get(), batch_));
        if (decoded != Decoded::ok) return decoded;
        return (scores(pooling_) ? score(parts) : pool(parts)) ? Decoded::ok : Decoded::failed;
    });
}

void Embedder::fill(std::span<const TextPart> parts) {
    INGLE_ASSERT(std::ssize(parts) <= batch_texts_);
    batch_.n_tokens = 0;
    for (size_t part = 0; part < parts.size(); ++part) {
        const auto& [text, first, count, vector] = parts[part];
        INGLE_ASSERT(first == 0 || (takes_parts() && parts.size() == 1));
        for (int32_t at = first; at < first + count; ++at) {
            const int32_t place = batch_.n_tokens++;
            INGLE_ASSERT(place < batch_tokens_);
            batch_.token[place] = text[static_cast<size_t>(at)];
            batch_.pos[place] = at;
            batch_.n_seq_id[place] = 1;
            batch_.seq_id[place][0] = static_cast<llama_seq_id>(part);
            batch_.logits[place] = 1;
        }
    }
}

/// Adds each token's share to the vector of its text. False if a result is not finite.
bool Embedder::pool(std::span<const TextPart> parts) {
    int32_t place = 0;
    for (const auto& [text, first, count, vector] : parts) {
        const auto length = static_cast<int32_t>(text.size());
        for (int32_t at = first; at < first + count; ++at, ++place) {
            const bool is_pooled =
                pooling_ == Pooling::mean || at == (pooling_ == Pooling::first ? 0 : length - 1);
            if (!is_pooled) continue;
            const float* token = llama_get_embeddings_ith(context_.get(), place);
            if (token == nullptr) return false;
            const float weight = pooling_ == Pooling::mean ? 1.0F / static_cast<float>(length) : 1.0F;
            for (size_t i = 0; i < vector.size(); ++i) vector[i] += weight * token[i];
        }
        const auto is_number = [](float value) { return std::isfinite(value); };
        if (!std::ranges::all_of(vector, is_number)) return false;
    }
    return true;
}

/// Takes the score of each text that is complete, which llama.cpp has computed. False if one is not finite.
bool Embedder::score(std::span<const TextPart> parts) {
    for (size_t part = 0; part < parts.size(); ++part) {
        const auto& [text, first, count, vector] = parts[part];
        if (first + count < std::ssize(text)) continue;
        const float* scores = llama_get_embeddings_seq(context_.get(), static_cast<llama_seq_id>(part));
        if (scores == nullptr || !std::isfinite(scores[0])) return false;
        vector[0] = scores[0];
    }
    return true;
}

} // namespace llama
