#include "llama/context/context_params.h"

#include "../src/llama-ext.h"   // no public header has candidates
#include "../src/llama-model.h" // no public header has the devices
#include "llama/context/filler_rows.h"
#include "llama/context/kv_types.h"
#include "llama/model/model.h"

#include <algorithm>
#include <string>

#include "ggml-cpp.h"

namespace llama {

using base::Code;

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// With streams or recurrent state, there may be fewer sequences than one text has drafts: logits of so many fit nevertheless.
constexpr int32_t kDraftOutputs = 16;

/// llama.cpp rounds a stream's cells up to a multiple of this.
constexpr int32_t kStreamCells = 256;

int32_t rounded_up(int32_t number, int32_t multiple) {
    return (number + multiple - 1) / multiple * multiple;
}

std::string gibibytes(uint64_t bytes) {
    const auto tenths = static_cast<uint64_t>(static_cast<double>(bytes) / kGiB * 10 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

/// Total memory of the machine and its GPUs, in bytes.
uint64_t memory_total() {
    uint64_t total = 0;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        size_t device_free = 0;
        size_t device_total = 0;
        ggml_backend_dev_memory(ggml_backend_dev_get(i), &device_free, &device_total);
        total += device_total;
    }
    return total;
}

uint64_t kv_bytes(const Model& model, const llama_context_params& params) {
    return kv_token_bytes(model, {.k = params.type_k, .v = params.type_v}) * params.n_ctx;
}

llama_context_params to_params(const ContextOptions& options, KvTypes types, int32_t slots,
                               int32_t filler_sequences) {
    llama_context_params params = llama_context_default_params();
    // With streams, a slot may have a token in a batch only to fill it, and none is spare: no state is copied out.
    const int32_t sequences = options.has_streams ? slots : std::min(slots + 1, kSlotsMax) + filler_sequences;
    const int32_t fillers = options.has_streams ? slots : filler_sequences;
    params.n_ctx =
        static_cast<uint32_t>(options.has_streams ? slots * rounded_up(options.context_length, kStreamCells)
                                                  : options.cells + filler_sequences);
    params.n_batch = static_cast<uint32_t>(options.batch_tokens + fillers);
    params.n_ubatch = static_cast<uint32_t>(options.tokens_at_once() + fillers);
    params.offload_kqv = options.offloads_kv;
    apply(options.rope, params);
    params.n_seq_max = static_cast<uint32_t>(sequences);
    params.n_rs_seq = static_cast<uint32_t>(options.rollback);
    // Room for one token's logits of every sequence, and for those of drafts, which in a pool take the places of cached sequences:
    // outputs_max().
    const int32_t drafts = options.has_streams || options.rollback > 0 ? kDraftOutputs : 0;
    params.n_outputs_max =
        static_cast<uint32_t>(std::max(sequences, options.sequences + drafts + filler_sequences));
    params.n_threads = options.threads;
    params.n_threads_batch = options.threads_batch;
    params.type_k = types.k;
    params.type_v = types.v;
    params.flash_attn_type = flash_attention_type(options.flash_attention);
    params.kv_unified = !options.has_streams;
    params.no_perf = true;
    return params;
}

/// Enough for top-k with 40 and penalties for 64 tokens, which are the most that usual settings need. 64 replies then copy 64 KiB a
/// step, instead of 33 MB with a vocabulary of 128,000.
constexpr int32_t kSelected = 128;

/// A convolution's state takes kilobytes, a state space tens of megabytes.
constexpr uint64_t kFillerStateBytesMax = 1 << 20;

/// Devices for tests, by Mesa and by SwiftShader, compute on the processor: there is no bus to spare, and selecting takes long.
bool is_software(ggml_backend_dev_t device) {
    const std::string description = ggml_backend_dev_description(device);
    return description.contains("llvmpipe") || description.contains("SwiftShader");
}

/// Whether the logits are computed by a device of its own, which can select the likeliest.
bool selects_on_device(const Model& model) {
    ggml_backend_dev_t device = model.raw()->dev_output();
    if (device == nullptr || ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU ||
        is_software(device))
        return false;
    const ggml_context_ptr context(
        ggml_init({.mem_size = 4 * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true}));
    ggml_tensor* logits = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, model.info().vocabulary_size, 1);
    return ggml_backend_dev_supports_op(device, ggml_top_k(context.get(), logits, kSelected));
}

std::unexpected<base::Error> has_no_effect(const std::string& param, const std::string& reason) {
    return base::wrong_option(param, reason + " Leave the option out.");
}

/// Options that llama.cpp would ignore.
base::Result<void> check_effects(const Model& model, const ContextOptions& options) {
    if (!options.offloads_kv && model.raw()->devices.empty())
        return has_no_effect("kvOffload", "the KV cache is not on a GPU.");
    const RopeOptions& rope = options.rope;
    if (rope.is_default()) return {};
    if (llama_model_rope_type(model.raw()) == LLAMA_ROPE_TYPE_NONE)
        return has_no_effect("ropeScaling", "this model has no rotary positions.");
    const bool is_yarn = rope.scaling == "yarn" ||
                         (rope.scaling.empty() &&
                          model.raw()->hparams.rope_scaling_type_train == LLAMA_ROPE_SCALING_TYPE_YARN);
    const RopeOptions without_yarn{
        .scaling = rope.scaling, .freq_base = rope.freq_base, .freq_scale = rope.freq_scale};
    if (!is_yarn && rope != without_yarn)
        return has_no_effect("ropeScaling", "the YaRN options need the scaling \"yarn\".");
    return {};
}

} // namespace

int32_t length_max(const Model& model, const RopeOptions& rope) {
    const int32_t trained = model.info().context_length_train;
    if (rope.scaling == "none" || rope.freq_scale <= 0 || rope.freq_scale >= 1) return trained;
    return static_cast<int32_t>(
        std::min(static_cast<double>(trained) / static_cast<double>(rope.freq_scale), 1e9));
}

void apply(const RopeOptions& rope, llama_context_params& params) {
    if (rope.scaling == "none") params.rope_scaling_type = LLAMA_ROPE_SCALING_TYPE_NONE;
    if (rope.scaling == "linear") params.rope_scaling_type = LLAMA_ROPE_SCALING_TYPE_LINEAR;
    if (rope.scaling == "yarn") params.rope_scaling_type = LLAMA_ROPE_SCALING_TYPE_YARN;
    params.rope_freq_base = rope.freq_base;
    params.rope_freq_scale = rope.freq_scale;
    params.yarn_orig_ctx = static_cast<uint32_t>(rope.yarn_original_length);
    if (rope.yarn_ext_factor >= 0) params.yarn_ext_factor = rope.yarn_ext_factor;
    if (rope.yarn_attn_factor >= 0) params.yarn_attn_factor = rope.yarn_attn_factor;
    if (rope.yarn_beta_fast >= 0) params.yarn_beta_fast = rope.yarn_beta_fast;
    if (rope.yarn_beta_slow >= 0) params.yarn_beta_slow = rope.yarn_beta_slow;
}

llama_flash_attn_type flash_attention_type(const std::string& name) {
    if (name == "on") return LLAMA_FLASH_ATTN_TYPE_ENABLED;
    return name == "off" ? LLAMA_FLASH_ATTN_TYPE_DISABLED : LLAMA_FLASH_ATTN_TYPE_AUTO;
}

base::Result<llama_context_params> context_params(const Model& model, const ContextOptions& options,
                                                  int32_t slots) {
    if (auto checked = check_effects(model, options); !checked) return std::unexpected(checked.error());
    if (auto checked = process::check_placement(options.placement); !checked)
        return std::unexpected(checked.error());
    const base::Result<KvTypes> types =
        kv_types(model, options.kv_type_k, options.kv_type_v, options.flash_attention);
    if (!types) return std::unexpected(types.error());
    return to_params(options, *types, slots, filler_sequences(model, options, slots));
}

size_t selected_candidates(const Model& model, const ContextOptions& options) {
    const int32_t wanted = options.selected >= 0      ? options.selected
                           : selects_on_device(model) ? kSelected
                                                      : 0;
    return static_cast<size_t>(std::min(wanted, model.info().vocabulary_size));
}

void select_candidates(llama_context* context, size_t selected) {
    llama_set_output_candidates(context, static_cast<uint32_t>(selected));
    llama_set_keep_decode_graphs(context, selected > 0);
}

int32_t filler_sequences(const Model& model, const ContextOptions& options, int32_t slots) {
    if (options.has_streams || selected_candidates(model, options) == 0 ||
        llama_model_is_recurrent(model.raw()) || recurrent_state_bytes(model) > kFillerStateBytesMax)
        return 0;
    return std::clamp(kSlotsMax - 1 - slots, 0, filler_rows_max(options.sequences));
}

bool fits_machine(const Model& model, const llama_context_params& params) {
    return model.info().size_bytes + kv_bytes(model, params) <= memory_total();
}

base::Error context_out_of_memory(const Model& model, const llama_context_params& params) {
    return {.code = Code::out_of_memory,
            .message = "There is not enough memory for a context of " + std::to_string(params.n_ctx) +
                       " tokens: the weights take " + gibibytes(model.info().size_bytes) + ", the KV cache " +
                       gibibytes(kv_bytes(model, params)) + ", and this machine has " +
                       gibibytes(memory_total()) + ". Choose a shorter context or fewer parallel requests."};
}

void tap_layers(llama_context* context, const std::vector<int32_t>& layers) {
    for (const int32_t layer : layers)
        llama_set_embeddings_layer_inp(context, static_cast<uint32_t>(layer), true);
}

base::Error untappable(const Model& model, const base::Error& reason) {
    // llama.cpp asserts it where it builds the graph.
    if (reason.message.find("layer input tensor is null") == std::string::npos) return reason;
    return {.code = Code::invalid_argument,
            .message = "draftModel: llama.cpp does not give the hidden states that it reads of " +
                       model.info().architecture +
                       " models. Choose a smaller model of the same family as the draft model.",
            .param = "draftModel"};
}

base::Error context_failed(const Model& model, const std::string& reason) {
    if (reason.find("GGML_ASSERT") != std::string::npos) return file_error(model.path(), reason);
    return {.code = Code::engine_failed, .message = "The context could not be created: " + reason};
}

} // namespace llama
