#include "llama/model/placement.h"

#include "../src/tensor-pattern.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "ggml-backend.h"

// Declared in llama.cpp's src/llama-model.h, which includes nearly all of llama.cpp.
const std::vector<std::pair<std::string, ggml_tensor*>>&
llama_internal_get_tensor_map(const llama_model* model); // NOLINT

namespace llama {

using base::wrong_option;

namespace {

std::string names_of(const std::vector<ggml_backend_dev_t>& devices) {
    std::string names;
    for (ggml_backend_dev_t device : devices) {
        if (device == nullptr) break;
        names += (names.empty() ? "" : ", ") + std::string(ggml_backend_dev_name(device));
    }
    return names;
}

/// The devices of workers, then this machine's GPUs; integrated ones only if there are no others, unless they are named.
std::vector<ggml_backend_dev_t> all_devices(const WorkerConnections& workers, bool with_all_integrated) {
    std::vector<ggml_backend_dev_t> devices;
    for (const auto& worker : workers)
        devices.insert(devices.end(), worker->devices().begin(), worker->devices().end());
    for (const auto type : {GGML_BACKEND_DEVICE_TYPE_GPU, GGML_BACKEND_DEVICE_TYPE_IGPU}) {
        const size_t before = devices.size();
        for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
            ggml_backend_dev_t device = ggml_backend_dev_get(i);
            if (ggml_backend_dev_type(device) == type) devices.push_back(device);
        }
        if (devices.size() > before && !with_all_integrated) break;
    }
    return devices;
}

/// The experts' weights of a layer, as llama.cpp names them.
std::string experts_of(int32_t layer) {
    return "^blk\\." + std::to_string(layer) + "\\.ffn_(up|down|gate|gate_up)_(ch|)exps";
}

constexpr const char* kCpu = "CPU";

ggml_backend_dev_t cpu() {
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

bool set_value(const std::string& value, llama_model_kv_override& into) {
    const char* end = value.data() + value.size();
    const auto is_read = [&](auto& number) {
        const auto [stopped, error] = std::from_chars(value.data(), end, number);
        return error == std::errc() && stopped == end;
    };
    switch (into.tag) {
        case LLAMA_KV_OVERRIDE_TYPE_INT: return is_read(into.val_i64);
        case LLAMA_KV_OVERRIDE_TYPE_FLOAT: return is_read(into.val_f64) && std::isfinite(into.val_f64);
        case LLAMA_KV_OVERRIDE_TYPE_BOOL:
            into.val_bool = value == "true";
            return into.val_bool || value == "false";
        case LLAMA_KV_OVERRIDE_TYPE_STR:
            if (value.size() >= sizeof(into.val_str)) return false;
            std::memcpy(into.val_str, value.c_str(), value.size() + 1);
            return true;
    }
    return false;
}

std::string number_of_experts(const llama_model* model) {
    std::array<char, 64> text{};
    if (llama_model_meta_val_str(model, "general.architecture", text.data(), text.size()) < 0) return {};
    const std::string key = std::string(text.data()) + ".expert_count";
    if (llama_model_meta_val_str(model, key.c_str(), text.data(), text.size()) < 0) return {};
    return text.data();
}

} // namespace

const char* relate(Placement& placement) {
    if (placement.devices.size() > llama_max_devices()) return "devices";
    if (placement.tensor_split.size() > llama_max_devices()) return "tensorSplit";
    if (placement.tensor_overrides.size() > kOverridesMax) return "tensorOverrides";
    return placement.kv_overrides.size() > kOverridesMax ? "kvOverrides" : nullptr;
}

base::Result<std::unique_ptr<PlacedParams>>
PlacedParams::create(const Placement& placement, int32_t gpu_layers, const WorkerConnections& workers) {
    if (auto started = start_numa(placement.numa); !started) return std::unexpected(started.error());
    std::unique_ptr<PlacedParams> placed(new PlacedParams);
    placed->checks_tensors_ = placement.checks_tensors;
    if (auto chosen = placed->choose_devices(placement, gpu_layers, workers); !chosen)
        return std::unexpected(chosen.error());
    if (auto is_split = placed->split(placement); !is_split) return std::unexpected(is_split.error());
    if (auto overridden = placed->override_tensors(placement); !overridden)
        return std::unexpected(overridden.error());
    if (auto overridden = placed->override_values(placement); !overridden)
        return std::unexpected(overridden.error());
    return placed;
}

void PlacedParams::apply(llama_model_params& params) const {
    params.n_gpu_layers = gpu_layers_;
    if (!kv_overrides_.empty()) params.kv_overrides = kv_overrides_.data();
    params.check_tensors = checks_tensors_;
    // llama.cpp reserves buffers on devices without layers too, and a full one would refuse a model that the processor computes.
    if (gpu_layers_ == 0 && tensor_overrides_.empty()) {
        static ggml_backend_dev_t no_device = nullptr;
        params.devices = &no_device;
        return;
    }
    if (are_devices_given_) params.devices = const_cast<ggml_backend_dev_t*>(devices_.data()); // only read
    params.split_mode = split_mode_;
    params.main_gpu = main_gpu_;
    if (!tensor_split_.empty()) params.tensor_split = tensor_split_.data();
    if (!tensor_overrides_.empty()) params.tensor_buft_overrides = tensor_overrides_.data();
}

base::Result<void> PlacedParams::choose_devices(const Placement& placement, int32_t gpu_layers,
                                                const WorkerConnections& workers) {
    const std::vector<std::string>& names = placement.devices;
    const bool are_none = names.size() == 1 && names.front() == "none";
    const std::vector<ggml_backend_dev_t> all = all_devices(workers, !names.empty());
    if (names.empty()) devices_ = all;
    for (const std::string& name : names) {
        if (are_none) break;
        if (name == "none") return wrong_option("devices", "\"none\" cannot be combined with other names.");
        const auto found = std::ranges::find_if(
            all, [&](ggml_backend_dev_t device) { return name == ggml_backend_dev_name(device); });
        if (found == all.end()) {
            const std::string known = all.empty() ? "" : names_of(all) + ", or ";
            return wrong_option("devices", "there is no device \"" + name + "\" that can hold layers. Use " +
                                               known + "none to compute on the processor.");
        }
        if (std::ranges::find(devices_, *found) != devices_.end())
            return wrong_option("devices", name + " is named twice.");
        devices_.push_back(*found);
    }
    are_devices_given_ = !names.empty() || !workers.empty();
    gpu_layers_ = gpu_layers;
    if (gpu_layers > 0 && devices_.empty()) {
        const std::string reason = are_none ? "with the device \"none\", no GPU may hold layers."
                                            : "there is no GPU to put layers on.";
        return wrong_option("gpuLayers", reason + " Use 0, or leave the option out.");
    }
    devices_.push_back(nullptr);
    return {};
}

base::Result<void> PlacedParams::split(const Placement& placement) {
    const size_t count = devices_.size() - 1;
    split_mode_ = placement.split_mode;
    if (split_mode_ != LLAMA_SPLIT_MODE_LAYER && count == 0)
        return wrong_option("splitMode", "there is no GPU. Leave the option out.");
    if (split_mode_ == LLAMA_SPLIT_MODE_ROW) {
        for (size_t i = 0; i < count; ++i) {
            ggml_backend_reg_t backend = ggml_backend_dev_backend_reg(devices_[i]);
            if (ggml_backend_reg_get_proc_address(backend, "ggml_backend_split_buffer_type") != nullptr)
                continue;
            return wrong_option("splitMode", std::string(ggml_backend_dev_name(devices_[i])) +
                                                 " cannot hold rows of tensors. Use \"layer\".");
        }
    }
    if (placement.main_gpu >= 0) {
        if (split_mode_ != LLAMA_SPLIT_MODE_NONE)
            return wrong_option("mainGpu",
                                "only split mode \"none\" puts a model on one GPU. Set it as well.");
        if (std::cmp_greater_equal(placement.main_gpu, count))
            return wrong_option("mainGpu",
                                "there are " + std::to_string(count) + " devices, counted from 0.");
        main_gpu_ = placement.main_gpu;
    }
    if (placement.tensor_split.empty()) return {};
    if (count == 0) return wrong_option("tensorSplit", "there is no GPU. Leave the option out.");
    if (split_mode_ == LLAMA_SPLIT_MODE_NONE || placement.tensor_split.size() != count)
        return wrong_option("tensorSplit",
                            "it needs one number for each device that gets layers, and these are " +
                                std::to_string(split_mode_ == LLAMA_SPLIT_MODE_NONE ? 1 : count) + ": " +
                                names_of(devices_) + ".");
    const bool are_shares = std::ranges::all_of(
        placement.tensor_split, [](float share) { return std::isfinite(share) && share >= 0; });
    if (!are_shares || std::ranges::all_of(placement.tensor_split, [](float share) { return share == 0; }))
        return wrong_option("tensorSplit", "its numbers must be at least 0, and one of them above 0.");
    tensor_split_ = placement.tensor_split;
    tensor_split_.resize(llama_max_devices(), 0);
    return {};
}

base::Result<void> PlacedParams::override_tensors(const Placement& placement) {
    if (placement.cpu_moe_layers > 0 && devices_.front() == nullptr)
        return wrong_option("cpuMoeLayers",
                            "there is no GPU, so all experts are on the processor. Leave the option out.");
    std::vector<ggml_backend_buffer_type_t> buffers;
    for (const auto& [pattern, device] : placement.tensor_overrides) {
        std::string reason;
        if (!ingle::tensor_pattern::parse(pattern, reason))
            return wrong_option("overrideTensor", "\"" + pattern + "\" is not a pattern: " + reason + ".");
        const auto is_named = [&](ggml_backend_dev_t each) {
            return each != nullptr && device == ggml_backend_dev_name(each);
        };
        const auto found = std::ranges::find_if(devices_, is_named);
        if (device != kCpu && found == devices_.end())
            return wrong_option("overrideTensor",
                                "\"" + device + "\" is not a device of this model. Use CPU" +
                                    (devices_.size() > 1 ? ", " + names_of(devices_) : "") + ".");
        patterns_.push_back(pattern);
        buffers.push_back(ggml_backend_dev_buffer_type(device == kCpu ? cpu() : *found));
    }
    for (int32_t layer = 0; layer < placement.cpu_moe_layers; ++layer) {
        patterns_.push_back(experts_of(layer));
        buffers.push_back(ggml_backend_dev_buffer_type(cpu()));
    }
    if (patterns_.empty()) return {};
    // Only now, because strings may move while the list grows.
    for (size_t i = 0; i < patterns_.size(); ++i)
        tensor_overrides_.push_back({.pattern = patterns_[i].c_str(), .buft = buffers[i]});
    tensor_overrides_.push_back({.pattern = nullptr, .buft = nullptr});
    return {};
}

base::Result<void> PlacedParams::override_values(const Placement& placement) {
    for (const auto& [key, type, value] : placement.kv_overrides) {
        llama_model_kv_override each{};
        each.tag = type;
        if (key.empty() || key.size() >= sizeof(each.key))
            return wrong_option("overrideKv", "a key is too long.");
        std::memcpy(each.key, key.c_str(), key.size() + 1);
        if (!set_value(value, each))
            return wrong_option("overrideKv",
                                "\"" + value + "\" is not a value of the type given for " + key + ".");
        kv_overrides_.push_back(each);
    }
    if (!kv_overrides_.empty()) kv_overrides_.push_back({}); // llama.cpp stops at an empty key
    return {};
}

base::Result<void> check_placed(const Placement& placement, const llama_model* model,
                                const std::string& lines) {
    const auto& tensors = llama_internal_get_tensor_map(model);
    for (const auto& [pattern, device] : placement.tensor_overrides) {
        const auto is_matched = [&](const auto& named) {
            return ingle::tensor_pattern::matches(pattern.c_str(), named.first);
        };
        if (!std::ranges::any_of(tensors, is_matched))
            return wrong_option("overrideTensor", "no tensor of this model matches \"" + pattern + "\".");
    }
    if (placement.cpu_moe_layers > 0) {
        const std::string experts = number_of_experts(model);
        if (experts.empty() || experts == "0")
            return wrong_option("cpuMoeLayers", "this model has no experts. Leave the option out.");
    }
    for (const auto& override_ : placement.kv_overrides) {
        if (lines.find(" '" + override_.key + "' = ") == std::string::npos)
            return wrong_option("overrideKv",
                                override_.key + " is not read for this model, or has another type.");
    }
    return {};
}

} // namespace llama
