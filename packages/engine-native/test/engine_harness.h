// An engine with a tiny model for the engine's tests: requests in, whole replies out. Requests that are sent together are computed
// in the same steps on every machine.
#pragma once

#include "engine/engine.h"
#include "llama_faults.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace test {

using base::RequestId;
using base::Token;
using ModelPtr = std::shared_ptr<const llama::Model>;

/// The file that an environment variable such as INGLE_TINY_LLAMA names; cpp.test.ts makes it.
std::string tiny_file(const std::string& variable);

/// The tiny model that an environment variable names. A vision model (`sees`) has its projector in the variable with _MMPROJ.
ModelPtr tiny_model(const std::string& variable, bool sees = false);

inline ModelPtr tiny_llama() {
    return tiny_model("INGLE_TINY_LLAMA");
}
inline ModelPtr tiny_lfm2() {
    return tiny_model("INGLE_TINY_LFM2");
}
/// With a layer for multi-token prediction that is nearly always right.
inline ModelPtr tiny_glm4moe() {
    return tiny_model("INGLE_TINY_GLM4MOE");
}
inline ModelPtr tiny_qwen35() {
    return tiny_model("INGLE_TINY_QWEN35");
}

inline ModelPtr tiny_bert() {
    return tiny_model("INGLE_TINY_BERT");
}

/// Few slots and small steps, so that requests wait, share and are computed in chunks. In exact arithmetic a text does not depend
/// on what else is in the batch.
engine::EngineOptions few_places();

struct TextRequest {
    std::vector<Token> prompt;
    int32_t tokens;
    bool uses_cache = true;
    llama::ImageParts images = {};
    float temperature = 0;
    std::shared_ptr<const grammar::Constraint> constraint = nullptr;
    std::vector<float> adapter_scales = {};
    /// As in Submission; needs uses_cache false.
    int32_t prompt_logprobs = -1;
    int32_t id_slot = -1;
};

struct Reply {
    std::string text;
    std::optional<engine::FinishReason> reason;
    std::optional<base::Code> error;
    /// The bytes that the error says it needs, in all memories.
    uint64_t needed_bytes = 0;
    int32_t cached = 0;
    /// The texts' vectors, if these were asked for.
    std::vector<float> vectors = {};
    /// How much of the prompt was computed at each report, and the log probabilities of its tokens.
    std::vector<int32_t> computed = {};
    std::vector<engine::TokenLogprobs> prompt_logprobs = {};
    std::vector<engine::TokenLogprobs> logprobs = {};
    /// Which reply this was to end: first, second, …; 0 before its end.
    int32_t place = 0;
    /// Last events that came for it: more than one is a bug of the engine.
    int32_t ends = 0;

    bool is_whole() const { return reason == engine::FinishReason::length || !vectors.empty(); }
};

class EngineHarness {
public:
    explicit EngineHarness(ModelPtr model, const engine::EngineOptions& options = few_places());

    RequestId submit(const TextRequest& request);

    RequestId embed(const std::vector<std::vector<Token>>& texts, const engine::MemoryLimits& limits = {});

    /// Waits for a request's end.
    Reply wait(RequestId id);

    Reply generate(const TextRequest& request) { return wait(submit(request)); }

    /// Submits all of them at once: the first is running when the others come.
    std::vector<Reply> generate_all(const std::vector<TextRequest>& requests);

private:
    /// A sanitizer on a busy machine takes long; what hangs takes forever.
    static constexpr std::chrono::minutes kWaitMax{2};

    /// The engine's thread.
    void hear(const std::vector<engine::Event>& events);

    void note(const engine::Event& event);

    std::mutex mutex_;
    std::condition_variable heard_;
    // Guarded by mutex_.
    std::map<RequestId, Reply> replies_;
    int32_t ended_ = 0;
    /// Not all requests of generate_all() are submitted: the listener waits for them.
    bool is_asking_ = false;

public:
    /// Last, so that its thread has ended before the rest is destroyed.
    std::unique_ptr<engine::Engine> engine;
};

/// Whether the engine refuses a request when it is submitted.
bool is_refused(EngineHarness& harness, const TextRequest& request);

} // namespace test
