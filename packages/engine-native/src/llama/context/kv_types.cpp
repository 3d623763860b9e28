#include "llama/context/kv_types.h"

#include "../src/llama-model.h" // no public header exposes the heads and the device of each layer
#include "llama/model/model.h"

#include <array>
#include <cstring>
#include <utility>

#include "ggml-backend.h"
#include "ggml-cpp.h"

namespace llama {

using base::Code;

namespace {

/// The types with more bits first. q3_kv is ours: vendor/llama.cpp/files has it.
constexpr std::array kNames = {"f32",  "f16",  "bf16", "q8_0",   "q5_1",
                               "q5_0", "q4_1", "q4_0", "iq4_nl", "q3_kv"};

int type_named(const char* name) {
    for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const char* other = ggml_type_name(static_cast<ggml_type>(type));
        if (other != nullptr && std::strcmp(name, other) == 0) return type;
    }
    return -1;
}

/// One layer's attention, and the device that computes it.
struct Layer {
    ggml_backend_dev_t device;
    int64_t heads;
    int64_t kv_heads;
    int64_t head_size_k;
    int64_t head_size_v;
};

/// The layers that keep keys and values.
std::vector<Layer> cached_layers(const llama_model& model) {
    const llama_hparams& hparams = model.hparams;
    std::vector<Layer> layers;
    if (llama_model_is_recurrent(&model)) return layers;
    uint32_t recurrent = 0;
    for (uint32_t i = 0; i < hparams.n_layer(); ++i) recurrent += hparams.is_recr(i) ? 1 : 0;
    // In a hybrid model that marks every layer as recurrent, each layer also has attention.
    const bool have_both = recurrent == hparams.n_layer();
    for (uint32_t i = 0; i < hparams.n_layer(); ++i) {
        if (!hparams.has_kv(i) || hparams.n_head_kv(i) == 0 || (hparams.is_recr(i) && !have_both)) continue;
        layers.push_back({.device = model.dev_layer(static_cast<int>(i)),
                          .heads = hparams.n_head(i),
                          .kv_heads = hparams.n_head_kv(i),
                          .head_size_k = hparams.n_embd_head_k(i),
                          .head_size_v = hparams.n_embd_head_v(i)});
    }
    return layers;
}

base::Result<void> check_blocks(ggml_type type, int64_t head_size) {
    const int64_t block = ggml_blck_size(type);
    if (head_size % block == 0) return {};
    return base::fail(Code::invalid_argument,
                      "A KV cache in " + std::string(ggml_type_name(type)) + " stores blocks of " +
                          std::to_string(block) + " values, which do not divide this model's heads of " +
                          std::to_string(head_size) +
                          (head_size % 32 == 0 ? ". Use 8 or 4 bits." : ". Leave its KV cache at 16 bits."));
}

/// Maximum size of an attention head. Published models have up to 576 (multi-head latent attention). A damaged header may claim
/// a million, and llama.cpp allocates the KV cache before it compares the sizes.
constexpr int64_t kHeadSizeMax = 8192;

/// Whether the layer's device can compute attention over a KV cache of these types and write to it, tested for one token and a
/// few cells.
bool has_kernels(const Layer& layer, KvTypes types) {
    constexpr int64_t kCells = 256;
    constexpr size_t kTensors = 16;
    const ggml_context_ptr owner(
        ggml_init({.mem_size = kTensors * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true}));
    ggml_context* context = owner.get();
    ggml_tensor* q = ggml_new_tensor_3d(context, GGML_TYPE_F32, layer.head_size_k, 1, layer.heads);
    ggml_tensor* k = ggml_new_tensor_3d(context, types.k, layer.head_size_k, kCells, layer.kv_heads);
    ggml_tensor* v = ggml_new_tensor_3d(context, types.v, layer.head_size_v, kCells, layer.kv_heads);
    ggml_tensor* mask = ggml_new_tensor_2d(context, GGML_TYPE_F16, kCells, 1);
    ggml_tensor* cell = ggml_new_tensor_1d(context, GGML_TYPE_I64, 1);
    const auto can_write = [&](ggml_type type, int64_t head_size) {
        const int64_t width = head_size * layer.kv_heads;
        ggml_tensor* cache = ggml_new_tensor_2d(context, type, width, kCells);
        ggml_tensor* row = ggml_new_tensor_2d(context, GGML_TYPE_F32, width, 1);
        return ggml_backend_dev_supports_op(layer.device, ggml_set_rows(context, cache, row, cell));
    };
    return ggml_backend_dev_supports_op(layer.device,
                                        ggml_flash_attn_ext(context, q, k, v, mask, 1.0F, 0.0F, 0.0F)) &&
           can_write(types.k, layer.head_size_k) && can_write(types.v, layer.head_size_v);
}

base::Result<void> check_kernels(const std::vector<Layer>& layers, KvTypes types) {
    ggml_backend_dev_t last = nullptr;
    for (const Layer& layer : layers) {
        if (layer.device == last) continue; // the layers of a device differ too little to test each
        last = layer.device;
        if (has_kernels(layer, types)) continue;
        return base::fail(Code::invalid_argument,
                          std::string(ggml_backend_dev_name(layer.device)) +
                              " has no kernels for a KV cache with keys in " + ggml_type_name(types.k) +
                              " and values in " + ggml_type_name(types.v) +
                              ". Use 16, 8 or 4 bits for both, or compute on the CPU.");
    }
    return {};
}

} // namespace

std::vector<std::string> kv_type_names() {
    return {kNames.begin(), kNames.end()};
}

int kv_type_from_name(const std::string& name) {
    for (const char* known : kNames) {
        if (name == known) return type_named(known);
    }
    return -1;
}

base::Result<KvTypes> kv_types(const Model& model, const std::string& k, const std::string& v,
                               const std::string& flash_attention) {
    for (const std::string& name : {k, v}) {
        if (kv_type_from_name(name) >= 0) continue;
        return base::fail(Code::invalid_argument, "\"" + name + "\" is not a KV cache type.");
    }
    const KvTypes types{.k = static_cast<ggml_type>(kv_type_from_name(k)),
                        .v = static_cast<ggml_type>(kv_type_from_name(v))};
    const std::vector<Layer> layers = cached_layers(*model.raw());
    for (const Layer& layer : layers) {
        for (const auto& [type, size] :
             {std::pair(types.k, layer.head_size_k), std::pair(types.v, layer.head_size_v)}) {
            if (size > kHeadSizeMax) {
                return std::unexpected(file_error(model.path(), "its header claims attention heads of " +
                                                                    std::to_string(size) + " values"));
            }
            if (const base::Result<void> checked = check_blocks(type, size); !checked)
                return std::unexpected(checked.error());
        }
    }
    if (ggml_is_quantized(types.v) && flash_attention == "off") {
        return base::fail(
            Code::invalid_argument,
            "Values in " + v +
                " need flash attention, which is off. Set it to \"auto\", or leave the values at "
                "16 bits.");
    }
    // Without flash attention, keys are multiplied like any matrix; and every device has kernels for unquantized types.
    const bool attends =
        flash_attention != "off" && (ggml_is_quantized(types.k) || ggml_is_quantized(types.v));
    if (attends) {
        if (const base::Result<void> checked = check_kernels(layers, types); !checked)
            return std::unexpected(checked.error());
    }
    return types;
}

uint64_t kv_token_bytes(const Model& model, KvTypes types) {
    const bool has_values = !model.raw()->hparams.is_mla(); // MLA computes values from the keys
    uint64_t bytes = 0;
    for (const Layer& layer : cached_layers(*model.raw())) {
        bytes += ggml_row_size(types.k, layer.head_size_k * layer.kv_heads);
        if (has_values) bytes += ggml_row_size(types.v, layer.head_size_v * layer.kv_heads);
    }
    return bytes;
}

uint64_t recurrent_state_bytes(const Model& model) {
    if (!model.info().is_recurrent) return 0;
    const llama_hparams& hparams = model.raw()->hparams;
    uint64_t layers = 0;
    for (uint32_t i = 0; i < hparams.n_layer(); ++i) layers += hparams.is_recr(i) ? 1 : 0;
    return layers * sizeof(float) * (hparams.n_embd_r() + hparams.n_embd_s());
}

} // namespace llama
