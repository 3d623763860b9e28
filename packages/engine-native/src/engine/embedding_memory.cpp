#include "engine/embedding_memory.h"

#include "llama/backend/backend.h"

#include <algorithm>
#include <utility>

namespace engine {

using base::Code;
using llama::Embedder;
using llama::MemoryUse;

namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

constexpr uint64_t kMiB = uint64_t{1024} * 1024;

std::string mebibytes(uint64_t bytes) {
    return std::to_string(bytes / kMiB) + " MiB";
}

/// Rounds the needed size up: with the available size rounded down, the message never looks as if it would fit.
std::string mebibytes_up(uint64_t bytes) {
    return mebibytes(bytes + kMiB - 1);
}

std::string words_of(const std::string& device) {
    return device.empty() ? "the machine's memory" : "the memory of " + device;
}

uint64_t limit_of(const MemoryLimits& limits, const std::string& device) {
    const auto found = std::ranges::find(limits.memories, device, &MemoryBytes::device);
    return found == limits.memories.end() ? kUnlimited : found->bytes;
}

std::unexpected<base::Error> not_enough(int32_t length, const std::string& needed, const std::string& there,
                                        const char* remedy) {
    return base::fail(Code::out_of_memory,
                      "Embeddings of texts of up to " + std::to_string(length) + " tokens need " + needed +
                          ", and " + there + ". Send shorter texts, load the model with a shorter context, " +
                          remedy + ".");
}

std::unexpected<base::Error> over_budget(const llama::EmbedderOptions& options, const std::string& needed,
                                         uint64_t left, std::vector<MemoryBytes> memory) {
    auto refused = not_enough(options.length, needed, "the budget leaves " + mebibytes(left),
                              "or raise the memory budget");
    refused.error().needed_memory = std::move(memory);
    return refused;
}

} // namespace

llama::EmbedderOptions embedder_options(const llama::ContextOptions& options, int32_t length) {
    return {.length = length,
            .batch_tokens = options.batch_tokens,
            .threads = options.threads,
            .threads_batch = options.threads_batch,
            .flash_attention = options.flash_attention,
            .offloads_kv = options.offloads_kv,
            .rope = options.rope};
}

int32_t embedding_length_max(const llama::Model& model, const llama::ContextOptions& options) {
    return std::min({options.context_length, model.info().context_length_train, Embedder::kLengthMax});
}

bool plans_embeddings(const llama::Model& model) {
    return Embedder::is_made_for(model) && Embedder::pooling_of(model).has_value();
}

base::Result<std::vector<MemoryUse>> planned_embedding_memory(const llama::Model& model,
                                                              const llama::ContextOptions& options) {
    if (!plans_embeddings(model)) return std::vector<MemoryUse>();
    return Embedder::measure(model, embedder_options(options, embedding_length_max(model, options)));
}

base::Result<std::vector<MemoryBytes>> embedding_memory_within(const MemoryLimits& limits,
                                                               const llama::Model& model,
                                                               const llama::EmbedderOptions& options) {
    const auto uses = Embedder::measure(model, options);
    if (!uses) return std::unexpected(uses.error());
    std::vector<MemoryBytes> memory;
    uint64_t total = 0;
    for (const auto& [device, weights, context, compute] : *uses) {
        memory.push_back({.device = device, .bytes = context + compute});
        total += context + compute;
    }
    const auto words = [](const MemoryBytes& use) {
        return mebibytes_up(use.bytes) + " of " + words_of(use.device);
    };
    for (const MemoryBytes& use : memory) {
        const uint64_t left = limit_of(limits, use.device);
        if (use.bytes > left) return over_budget(options, words(use), left, memory);
    }
    if (total > limits.total_bytes)
        return over_budget(options, mebibytes_up(total) + " of memory", limits.total_bytes, memory);
    for (const MemoryBytes& use : memory) {
        const uint64_t free = llama::available_memory(use.device);
        if (use.bytes > free)
            return not_enough(options.length, words(use), mebibytes(free) + " are free",
                              "or try again later");
    }
    return memory;
}

} // namespace engine
