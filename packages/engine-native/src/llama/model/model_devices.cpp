// The part of model.h that asks where a model's layers are.
#include "../src/llama-model.h" // no public header has the devices of layers
#include "llama/model/model.h"

#include <algorithm>
#include <ranges>

namespace llama {

bool Model::is_on_gpu() const {
    const auto is_gpu = [this](int32_t layer) {
        ggml_backend_device* device = model_->dev_layer(layer);
        if (device == nullptr) return false;
        const enum ggml_backend_dev_type type = ggml_backend_dev_type(device);
        return type == GGML_BACKEND_DEVICE_TYPE_GPU || type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    };
    return workers_.empty() && std::ranges::all_of(std::views::iota(0, info_.layers), is_gpu);
}

std::vector<std::string> Model::layer_devices() const {
    std::vector<std::string> names;
    for (int32_t layer = 0; layer < info_.layers; ++layer) {
        ggml_backend_device* device = model_->dev_layer(layer);
        const bool is_cpu =
            device == nullptr || ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
        names.emplace_back(is_cpu ? "" : ggml_backend_dev_name(device));
    }
    return names;
}

} // namespace llama
