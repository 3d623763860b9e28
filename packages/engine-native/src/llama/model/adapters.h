// A model's adapters, loaded beside its weights: LoRA adapters, and control vectors, which are added to what each layer gives. Each
// request may compute with some of them, each with a scale.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <span>
#include <string>
#include <vector>

#include "llama-cpp.h"

namespace llama {

struct AdapterFile {
    /// A GGUF file whose header was checked.
    std::string path;
    /// Equal contents, used in the same layers, have the same, others another.
    std::string identity;
    /// Of a control vector: what is added in each layer from the second on, one after another; then the file is not read. Empty for
    /// a LoRA adapter.
    std::vector<float> directions = {};
};

constexpr auto fields_of(const AdapterFile*) {
    return base::rows(base::field("path", &AdapterFile::path),
                      base::field("identity", &AdapterFile::identity),
                      base::field("directions", &AdapterFile::directions));
}

/// Constant after loading. Must not outlive the model.
class Adapters {
public:
    Adapters() = default;

    /// `model_invalid` if an adapter does not fit the model, `out_of_memory`.
    static base::Result<Adapters> load(llama_model* model, const std::vector<AdapterFile>& files);

    size_t size() const { return loaded_.size(); }

    /// Allocates what apply() needs in a context. May throw, `std::bad_alloc` among others.
    void prepare(llama_context* context) const;

    /// Names the adapters whose scale is not 0, with their scales, by the contents of their files: equal keys, equal state. Empty if
    /// there are none.
    std::string key_of(std::span<const float> scales) const;

    /// Lets a prepared context compute with these scales: one for each adapter, or none at all. May throw.
    void apply(llama_context* context, std::span<const float> scales) const;

private:
    struct Loaded {
        std::string identity;
        /// Null for a control vector.
        llama_adapter_lora_ptr lora;
        /// Empty for a LoRA adapter.
        std::vector<float> directions;
    };

    bool has_vectors() const;
    void add_directions(llama_context* context, std::span<const float> scales) const;

    std::vector<Loaded> loaded_;
};

} // namespace llama
