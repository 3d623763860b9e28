#include "llama/context/measure.h"

#include "../src/llama-ext.h"   // no public header has the breakdown; llama.cpp's common/fit includes it too
#include "../src/llama-model.h" // nor the flag
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace llama {

namespace {

/// The device's name; empty for the CPU, whose memory is the machine's.
std::string name_of(ggml_backend_dev_t device) {
    const bool is_cpu = ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
    return is_cpu ? std::string() : ggml_backend_dev_name(device);
}

/// The device whose memory holds such buffers. Buffers that the CPU can address are in the machine's memory, whichever device
/// uses them.
std::string device_of(ggml_backend_buffer_type_t buffers) {
    ggml_backend_dev_t device = ggml_backend_buft_get_device(buffers);
    if (device == nullptr || ggml_backend_buft_is_host(buffers)) return "";
    // Weights repacked for the CPU's kernels are not host buffers, but name_of() places them in the machine's memory.
    return name_of(device);
}

MemoryUse& use_of(std::vector<MemoryUse>& uses, const std::string& device) {
    const auto found = std::ranges::find(uses, device, &MemoryUse::device);
    return found != uses.end() ? *found : uses.emplace_back(MemoryUse{.device = device});
}

/// Lays out the context's graph anew.
void reserve(llama_context* context, const llama_context_params& params) {
    llama_graph_reserve(context, std::min(params.n_ctx, params.n_ubatch), params.n_seq_max,
                        params.n_outputs_max);
}

/// While one lives, a model's new contexts only lay out their memory, as those of an outline always do. llama.cpp reads this when
/// a context is created, measured or freed, or reserves its graphs: all of it on the thread that owns the model's contexts.
class LaysOutOnly {
public:
    explicit LaysOutOnly(const Model& model)
        : flag_(model.raw()->hparams.no_alloc), before_(std::exchange(flag_, true)) {}
    ~LaysOutOnly() { flag_ = before_; }
    LaysOutOnly(const LaysOutOnly&) = delete;
    LaysOutOnly& operator=(const LaysOutOnly&) = delete;

private:
    bool& flag_;
    const bool before_;
};

} // namespace

// Not done with llama.cpp's common/fit: it redirects the log of every thread to an object on its stack.
base::Result<std::vector<MemoryUse>> measure(const Model& model, const ContextOptions& options, int32_t slots,
                                             const std::function<void(llama_context*)>& beside) {
    const AssertionsThrow assertions_throw;
    try {
        const base::Result<llama_context_params> params = context_params(model, options, slots);
        if (!params) return std::unexpected(params.error());
        auto uses = measure(model, *params, [&](llama_context* context) {
            const size_t selected = selected_candidates(model, options);
            select_candidates(context, selected);
            tap_layers(context, options.tapped_layers);
            if (selected > 0 || !options.tapped_layers.empty()) reserve(context, *params);
            if (beside) beside(context);
        });
        if (!uses) return std::unexpected(untappable(model, uses.error()));
        const uint64_t width = sizeof(float) * static_cast<uint64_t>(llama_model_n_embd(model.raw()));
        use_of(*uses, "").compute += options.tapped_layers.size() * width * params->n_batch;
        return uses;
    } catch (const std::exception& error) {
        return std::unexpected(context_failed(model, error.what()));
    }
}

base::Result<std::vector<MemoryUse>> measure(const Model& model, const llama_context_params& params,
                                             const std::function<void(llama_context*)>& beside) {
    ErrorLines errors;
    const AssertionsThrow assertions_throw;
    try {
        const LaysOutOnly lays_out_only(model);
        const llama_context_ptr context(llama_init_from_model(model.raw(), params));
        if (context == nullptr) return std::unexpected(context_failed(model, errors.text()));
        if (beside) beside(context.get());
        std::vector<MemoryUse> uses;
        for (const auto& [buffers, bytes] : llama_get_memory_breakdown(context.get())) {
            MemoryUse& use = use_of(uses, device_of(buffers));
            use.weights += bytes.model;
            use.context += bytes.context;
            use.compute += bytes.compute;
        }
        return uses;
    } catch (const std::exception& error) {
        return std::unexpected(context_failed(model, error.what()));
    }
}

void add_uses(std::vector<MemoryUse>& uses, const std::vector<MemoryUse>& more) {
    for (const auto& [device, weights, context, compute] : more) {
        MemoryUse& use = use_of(uses, device);
        use.weights += weights;
        use.context += context;
        use.compute += compute;
    }
}

base::Result<void> measure_vision(const VisionOptions& options, std::vector<MemoryUse>& uses) {
    const auto bytes_by_device = Vision::measure(options);
    if (!bytes_by_device) return std::unexpected(bytes_by_device.error());
    for (const auto& [device, bytes] : *bytes_by_device) use_of(uses, name_of(device)).weights += bytes;
    return {};
}

} // namespace llama
