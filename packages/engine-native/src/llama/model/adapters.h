// A model's LoRA adapters, loaded beside its weights. Each request may compute with some of them, each with a scale.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "llama-cpp.h"

namespace llama_rt {

struct AdapterFile {
    /// A GGUF file whose header was checked.
    std::string path;
    /// Files with equal contents have the same, others another.
    std::string identity;
};

constexpr auto fields_of(const AdapterFile*) {
    return std::tuple(base::field("path", &AdapterFile::path),
                      base::field("identity", &AdapterFile::identity));
}

/// Constant after loading. Must not outlive the model.
class Adapters {
public:
    Adapters() = default;

    /// `model_invalid` if a file does not fit the model, `out_of_memory`.
    static base::Result<Adapters> load(llama_model* model, const std::vector<AdapterFile>& files);

    size_t size() const { return loaded_.size(); }

    /// Names the adapters whose scale is not 0, with their scales, by the contents of their files: equal keys, equal state. Empty if
    /// there are none.
    std::string key_of(std::span<const float> scales) const;

    /// Lets a context compute with these scales, one for each adapter. May throw.
    void apply(llama_context* context, std::vector<float>& scales) const;

private:
    std::vector<llama_adapter_lora_ptr> loaded_;
    std::vector<std::string> identities_;
};

} // namespace llama_rt
