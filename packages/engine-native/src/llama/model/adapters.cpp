#include "llama/model/adapters.h"

#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

namespace llama {

namespace {

/// llama.cpp counts layers from 0, and adds nothing in the first.
constexpr int32_t kFirstLayer = 1;

int32_t last_layer(const llama_model* model) {
    return llama_model_n_layer(model) - 1;
}

size_t direction_values(const llama_model* model) {
    return static_cast<size_t>(last_layer(model)) * static_cast<size_t>(llama_model_n_embd(model));
}

base::Result<llama_adapter_lora_ptr> load_lora(llama_model* model, const std::string& path) {
    if (const base::Result<void> checked = check_gguf(path); !checked)
        return std::unexpected(checked.error());
    ErrorLines errors;
    const AssertionsThrow assertions_throw;
    try {
        llama_adapter_lora_ptr loaded(llama_adapter_lora_init(model, path.c_str()));
        if (loaded != nullptr) return loaded;
        return std::unexpected(
            file_error(path, reason_after("failed to apply lora adapter: ", errors.text())));
    } catch (const std::exception& error) {
        return std::unexpected(file_error(path, error.what()));
    }
}

} // namespace

base::Result<Adapters> Adapters::load(llama_model* model, const std::vector<AdapterFile>& files) {
    Adapters adapters;
    for (const AdapterFile& file : files) {
        Loaded loaded{.identity = file.identity, .lora = nullptr, .directions = file.directions};
        if (!loaded.directions.empty()) {
            // The header's number of layers includes those that only draft, which take no directions.
            if (loaded.directions.size() < direction_values(model))
                return std::unexpected(file_error(file.path, "it has too few values for the model"));
            loaded.directions.resize(direction_values(model));
        } else {
            base::Result<llama_adapter_lora_ptr> lora = load_lora(model, file.path);
            if (!lora) return std::unexpected(lora.error());
            loaded.lora = std::move(*lora);
        }
        adapters.loaded_.push_back(std::move(loaded));
    }
    return adapters;
}

std::string Adapters::key_of(std::span<const float> scales) const {
    std::string key;
    for (size_t i = 0; i < scales.size(); ++i) {
        if (scales[i] == 0) continue;
        key += loaded_[i].identity + "*" + std::to_string(std::bit_cast<uint32_t>(scales[i])) + " ";
    }
    return key;
}

bool Adapters::has_vectors() const {
    return std::ranges::any_of(loaded_, [](const Loaded& each) { return each.lora == nullptr; });
}

void Adapters::prepare(llama_context* context) const {
    if (!has_vectors()) return;
    const llama_model* model = llama_get_model(context);
    const std::vector<float> zeros(direction_values(model), 0);
    // Keeps the memory that it allocates when it is set to nothing later.
    if (llama_set_adapter_cvec(context, zeros.data(), zeros.size(), llama_model_n_embd(model), kFirstLayer,
                               last_layer(model)) != 0)
        throw std::bad_alloc();
    llama_set_adapter_cvec(context, nullptr, 0, 0, 0, 0);
}

void Adapters::apply(llama_context* context, std::span<const float> scales) const {
    std::vector<llama_adapter_lora*> loras;
    std::vector<float> lora_scales;
    for (size_t i = 0; i < scales.size(); ++i) {
        if (loaded_[i].lora == nullptr) continue;
        loras.push_back(loaded_[i].lora.get());
        lora_scales.push_back(scales[i]);
    }
    llama_set_adapters_lora(context, loras.data(), loras.size(), lora_scales.data());
    if (has_vectors()) add_directions(context, scales);
}

void Adapters::add_directions(llama_context* context, std::span<const float> scales) const {
    const llama_model* model = llama_get_model(context);
    std::vector<float> sum;
    for (size_t i = 0; i < scales.size(); ++i) {
        const std::vector<float>& directions = loaded_[i].directions;
        if (scales[i] == 0 || directions.empty()) continue;
        sum.resize(directions.size());
        for (size_t at = 0; at < sum.size(); ++at) sum[at] += scales[i] * directions[at];
    }
    // The last batch may still be computed with the values that this overwrites.
    llama_synchronize(context);
    llama_set_adapter_cvec(context, sum.empty() ? nullptr : sum.data(), sum.size(), llama_model_n_embd(model),
                           kFirstLayer, last_layer(model));
}

} // namespace llama
