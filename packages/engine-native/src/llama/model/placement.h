// Where a model's tensors go, and how its file is read: our options in llama.cpp's terms. Options that would have no effect on this
// machine are errors, because llama.cpp ignores them.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "llama/backend/workers.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llama.h"

namespace llama {

/// Tensors whose names match the pattern (tensor-pattern.h) go to the device.
struct TensorOverride {
    std::string pattern;
    /// As in backend_info(), or "CPU".
    std::string device;
};

constexpr auto fields_of(const TensorOverride*) {
    return base::rows(base::field("pattern", &TensorOverride::pattern),
                      base::field("device", &TensorOverride::device));
}

/// Replaces a value of the file's header.
struct KvOverride {
    std::string key;
    llama_model_kv_override_type type;
    std::string value;
};

constexpr auto fields_of(const KvOverride*) {
    return base::rows(base::field("key", &KvOverride::key),
                      base::choice("type", &KvOverride::type,
                                   {{"int", LLAMA_KV_OVERRIDE_TYPE_INT},
                                    {"float", LLAMA_KV_OVERRIDE_TYPE_FLOAT},
                                    {"bool", LLAMA_KV_OVERRIDE_TYPE_BOOL},
                                    {"str", LLAMA_KV_OVERRIDE_TYPE_STR}}),
                      base::field("value", &KvOverride::value));
}

struct Placement {
    /// Names as in backend_info(); empty for all GPUs. "none" alone: the processor only.
    std::vector<std::string> devices = {};
    /// The experts of this many layers, counted from the first, stay in host memory.
    int32_t cpu_moe_layers = 0;
    std::vector<TensorOverride> tensor_overrides = {};
    llama_split_mode split_mode = LLAMA_SPLIT_MODE_LAYER;
    /// A share for each device; empty for shares by free memory.
    std::vector<float> tensor_split = {};
    /// The device that holds everything with LLAMA_SPLIT_MODE_NONE; -1 if none was requested.
    int32_t main_gpu = -1;
    /// "", "distribute", "isolate" or "numactl".
    std::string numa = {};
    bool checks_tensors = false;
    std::vector<KvOverride> kv_overrides = {};
};

constexpr auto fields_of(const Placement*) {
    return base::rows(base::field("devices", &Placement::devices),
                      base::field("cpuMoeLayers", &Placement::cpu_moe_layers, {.min = 0, .max = 1 << 16}),
                      base::field("tensorOverrides", &Placement::tensor_overrides),
                      base::choice("splitMode", &Placement::split_mode,
                                   {{"layer", LLAMA_SPLIT_MODE_LAYER},
                                    {"row", LLAMA_SPLIT_MODE_ROW},
                                    {"none", LLAMA_SPLIT_MODE_NONE}}),
                      base::field("tensorSplit", &Placement::tensor_split),
                      base::field("mainGpu", &Placement::main_gpu, {.min = -1, .max = 1 << 10}),
                      base::field("numa", &Placement::numa),
                      base::field("checkTensors", &Placement::checks_tensors),
                      base::field("kvOverrides", &Placement::kv_overrides));
}

/// Maximum number of patterns, and of replaced values: each is compared with every tensor, or with every value of the header.
inline constexpr size_t kOverridesMax = 64;

/// The name of the first list that is too long; null if none is.
const char* relate(Placement& placement);

/// Sets the fields of llama_model_params, and owns what these point to.
class PlacedParams {
public:
    /// A negative `gpu_layers` means all layers. `invalid_argument` if an option names something that does not exist, or would have no
    /// effect on this machine.
    static base::Result<std::unique_ptr<PlacedParams>> create(const Placement& placement, int32_t gpu_layers,
                                                              const WorkerConnections& workers);

    void apply(llama_model_params& params) const;

private:
    PlacedParams() = default;
    base::Result<void> choose_devices(const Placement& placement, int32_t gpu_layers,
                                      const WorkerConnections& workers);
    base::Result<void> split(const Placement& placement);
    base::Result<void> override_tensors(const Placement& placement);
    base::Result<void> override_values(const Placement& placement);

    /// Devices for layers, then null; workers come first, so that a GPU of this machine computes the output.
    std::vector<ggml_backend_dev_t> devices_;
    /// If false, llama.cpp chooses them: the same ones, but a device that two backends see only once.
    bool are_devices_given_ = false;
    int32_t gpu_layers_ = -1;
    int32_t main_gpu_ = 0;
    llama_split_mode split_mode_ = LLAMA_SPLIT_MODE_LAYER;
    bool checks_tensors_ = false;
    std::vector<float> tensor_split_;
    std::vector<std::string> patterns_;
    std::vector<llama_model_tensor_buft_override> tensor_overrides_;
    std::vector<llama_model_kv_override> kv_overrides_;
};

/// Checks after loading that each override and `cpu_moe_layers` had an effect. `lines` is what llama.cpp logged.
base::Result<void> check_placed(const Placement& placement, const llama_model* model,
                                const std::string& lines);

} // namespace llama
