// The part of speculator.h that knows which of a model's layers predict tokens beyond the next one.
#include "../src/llama-model.h" // no public header has the layers
#include "llama/model/speculator.h"

#include <algorithm>
#include <array>

namespace llama {

namespace {

struct Computed {
    llm_arch architecture;
    /// Whether a file may have several; the first one then drafts every token.
    bool several;
};
constexpr std::array<Computed, 13> kComputed{{{LLM_ARCH_COHERE2MOE, false},
                                              {LLM_ARCH_DEEPSEEK2, false},
                                              {LLM_ARCH_DEEPSEEK32, false},
                                              {LLM_ARCH_DEEPSEEK4, false},
                                              {LLM_ARCH_GLM4_MOE, false},
                                              {LLM_ARCH_GLM_DSA, false},
                                              {LLM_ARCH_HY_V3, true},
                                              {LLM_ARCH_MIMO2, true},
                                              {LLM_ARCH_STEP35, true},
                                              {LLM_ARCH_QWEN35, false},
                                              {LLM_ARCH_QWEN35MOE, false},
                                              {LLM_ARCH_BAILINGMOE3, false},
                                              {LLM_ARCH_NEMOTRON_H_MOE, false}}};

} // namespace

int32_t mtp_layers(const llama_model* model) {
    const auto layers = static_cast<int32_t>(model->hparams.n_layer_nextn);
    const auto computed = std::ranges::find(kComputed, model->arch, &Computed::architecture);
    if (layers == 0 || computed == kComputed.end() || (layers > 1 && !computed->several)) return 0;
    return model->layers[model->hparams.n_layer()].nextn.eh_proj != nullptr ? layers : 0;
}

} // namespace llama
