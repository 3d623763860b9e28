#include "llama/model/adapters.h"

#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <bit>
#include <cstdint>
#include <exception>

namespace llama_rt {

base::Result<Adapters> Adapters::load(llama_model* model, const std::vector<AdapterFile>& files) {
    Adapters adapters;
    for (const AdapterFile& file : files) {
        if (const base::Result<void> checked = check_gguf(file.path); !checked)
            return std::unexpected(checked.error());
        ErrorLines errors;
        const AssertionsThrow assertions_throw;
        try {
            llama_adapter_lora_ptr loaded(llama_adapter_lora_init(model, file.path.c_str()));
            if (loaded == nullptr) {
                const std::string reason = reason_after("failed to apply lora adapter: ", errors.text());
                return std::unexpected(file_error(file.path, reason));
            }
            adapters.loaded_.push_back(std::move(loaded));
            adapters.identities_.push_back(file.identity);
        } catch (const std::exception& error) {
            return std::unexpected(file_error(file.path, error.what()));
        }
    }
    return adapters;
}

std::string Adapters::key_of(std::span<const float> scales) const {
    std::string key;
    for (size_t i = 0; i < scales.size(); ++i) {
        if (scales[i] == 0) continue;
        key += identities_[i] + "*" + std::to_string(std::bit_cast<uint32_t>(scales[i])) + " ";
    }
    return key;
}

void Adapters::apply(llama_context* context, std::vector<float>& scales) const {
    std::vector<llama_adapter_lora*> raw;
    if (!scales.empty()) {
        for (const llama_adapter_lora_ptr& adapter : loaded_) raw.push_back(adapter.get());
    }
    llama_set_adapters_lora(context, raw.data(), raw.size(), scales.data());
}

} // namespace llama_rt
