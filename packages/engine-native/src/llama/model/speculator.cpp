#include "llama/model/speculator.h"

#include "../src/llama-model.h" // no public header has the layers
#include "llama/model/model.h"

#include <algorithm>

#include "ggml-backend.h"

namespace llama {

using base::Code;

namespace {

/// The block size of files that do not name one, as in llama.cpp's common/speculative.cpp.
constexpr int32_t kBlockDefault = 16;

/// Longer blocks are not trained; memory for logits grows with them.
constexpr int32_t kBlockMax = 64;

std::unexpected<base::Error> not_supported(const std::string& path, const std::string& what) {
    return base::fail(Code::model_unsupported,
                      path + " cannot be used: " + what + " are not supported. Choose another draft model.");
}

std::string value_of(const llama_model* model, const char* key) {
    const auto found = model->gguf_kv.find(key);
    return found == model->gguf_kv.end() ? std::string() : found->second;
}

base::Result<void> read_block(const llama_model* model, const std::string& path, Speculator& speculator) {
    const llama_hparams& hparams = model->hparams;
    if (hparams.dsv4_hc_mult > 0) return not_supported(path, "drafts with DeepSeek-V4 layers");
    if (model->dflash_selector_hidden != nullptr) return not_supported(path, "DFlash drafts with a selector");
    const bool is_dspark = model->dspark_markov_w1 != nullptr;
    const bool names_size = hparams.dflash_block_size > 0;
    // llama.cpp asserts it.
    if (is_dspark && !names_size)
        return std::unexpected(file_error(path, "it lacks the size of its blocks (dflash.block_size)."));
    const int64_t size = names_size ? hparams.dflash_block_size : kBlockDefault;
    if (size < 2 || size > kBlockMax)
        return std::unexpected(file_error(path, "its blocks have " + std::to_string(size) + " tokens."));
    speculator.predicts_from_first = is_dspark && value_of(model, "dflash.sample_from_anchor") != "false";
    speculator.block_drafts = static_cast<int32_t>(size) - (speculator.predicts_from_first ? 0 : 1);
    speculator.is_causal = value_of(model, "dflash.attention.causal") == "true";
    speculator.mask = llama_vocab_mask(llama_model_get_vocab(model));
    const bool has_mask = speculator.mask >= 0 && speculator.mask < llama_vocab_n_tokens(&model->vocab);
    if (!has_mask) return std::unexpected(file_error(path, "its vocabulary has no mask token."));
    return {};
}

/// The tokens that the rows of a small output matrix are for. llama.cpp writes logits to where they point.
base::Result<void> check_tokens(const llama_model* model, const std::string& path) {
    const ggml_tensor* tensor = model->d2t;
    if (tensor == nullptr) return {};
    const int64_t vocabulary = llama_vocab_n_tokens(&model->vocab);
    std::vector<int64_t> tokens(tensor->type == GGML_TYPE_I64 ? static_cast<size_t>(ggml_nelements(tensor))
                                                              : 0);
    ggml_backend_tensor_get(tensor, tokens.data(), 0, tokens.size() * sizeof(int64_t));
    const auto is_token = [vocabulary](int64_t token) { return token >= 0 && token < vocabulary; };
    if (!tokens.empty() && std::ranges::all_of(tokens, is_token)) return {};
    return std::unexpected(file_error(path, "its table of tokens (d2t) is damaged."));
}

std::unexpected<base::Error> does_not_fit(const std::string& why) {
    return base::fail(Code::invalid_argument, "The draft model does not fit this model: " + why +
                                                  ". Choose one that was made for this model.");
}

} // namespace

base::Result<std::optional<Speculator>> read_speculator(const llama_model* model, const std::string& path,
                                                        bool is_outline) {
    if (model->arch == LLM_ARCH_GEMMA4_ASSISTANT)
        return not_supported(path, "drafts from the KV cache of another model");
    if (model->arch != LLM_ARCH_EAGLE3 && model->arch != LLM_ARCH_DFLASH) return std::nullopt;
    Speculator speculator{.layers = {model->target_layer_ids.begin(), model->target_layer_ids.end()},
                          .width = 0,
                          .block_drafts = 0};
    const base::Result<void> tokens = is_outline ? base::Result<void>() : check_tokens(model, path);
    if (!tokens) return std::unexpected(tokens.error());
    if (speculator.layers.empty()) return std::unexpected(file_error(path, "it names no layers to read."));
    speculator.width = static_cast<int32_t>(model->hparams.n_embd_inp_enc() /
                                            static_cast<uint32_t>(speculator.layers.size()));
    if (model->arch == LLM_ARCH_EAGLE3) {
        // llama.cpp asserts it.
        if (model->hparams.n_layer() != 1) return not_supported(path, "EAGLE-3 drafts with several layers");
        return speculator;
    }
    if (const auto read = read_block(model, path, speculator); !read) return std::unexpected(read.error());
    return speculator;
}

base::Result<int32_t> check_speculator(const Model& speculator, const Model& target) {
    const auto& [layers, width, block, mask, predicts, causal] = *speculator.info().speculator;
    const auto layers_there = static_cast<int32_t>(target.raw()->hparams.n_layer());
    const auto width_there = static_cast<int32_t>(target.raw()->hparams.n_embd);
    if (!target.workers().empty())
        return base::fail(
            Code::invalid_argument,
            "draftModel: the model is on several machines, and its hidden states would cross the "
            "network for each token. Choose a smaller model of the same family.");
    if (width != width_there)
        return does_not_fit("it reads hidden states of " + std::to_string(width) +
                            " numbers, and this model's have " + std::to_string(width_there));
    for (const int32_t layer : layers) {
        if (layer < 0 || layer > layers_there)
            return does_not_fit("it reads layer " + std::to_string(layer) + ", and this model has " +
                                std::to_string(layers_there));
    }
    return common_vocabulary(target, speculator);
}

} // namespace llama
