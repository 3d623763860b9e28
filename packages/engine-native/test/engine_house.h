// An engine with a tiny model for the engine's tests: requests in, whole answers out. What is sent together is computed
// in the same turns on every machine.
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
using ModelPtr = std::shared_ptr<const llama_rt::Model>;

/// A file that a variable such as INGLE_TINY_LLAMA names: cpp.test.ts has made it.
inline std::string tiny_file(const std::string& variable) {
    const char* path = std::getenv(variable.c_str());
    if (path == nullptr) throw std::runtime_error(variable + " is not set; see test/cpp.test.ts");
    return path;
}

/// The tiny model that a variable names; one that `sees` has its projector in the variable with _MMPROJ behind.
inline ModelPtr tiny_model(const std::string& variable, bool sees = false) {
    static std::map<std::string, ModelPtr> models;
    ModelPtr& model = models[variable];
    if (model != nullptr) return model;
    const std::atomic<bool> is_aborted = false;
    llama_rt::ModelOptions options{
        .path = tiny_file(variable), .gpu_layers = 0, .mmap = true, .mlock = false};
    if (sees)
        options.vision = llama_rt::VisionOptions{.path = tiny_file(variable + "_MMPROJ"), .uses_gpu = false};
    auto loaded = llama_rt::Model::load(options, [](float) {}, is_aborted);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return model = std::move(*loaded);
}

inline ModelPtr tiny_llama() {
    return tiny_model("INGLE_TINY_LLAMA");
}
inline ModelPtr tiny_lfm2() {
    return tiny_model("INGLE_TINY_LFM2");
}

inline ModelPtr tiny_bert() {
    return tiny_model("INGLE_TINY_BERT");
}

/// Few places and small turns, so that requests wait, share and are computed in parts. In exact arithmetic a text does
/// not depend on what else is in the batch.
inline engine::EngineOptions few_places() {
    return {.context = {.context_length = 128,
                        .cells = 256,
                        .sequences = 3,
                        .batch_tokens = 24,
                        .threads = 1,
                        .threads_batch = 1,
                        .kv_type_k = "f32",
                        .kv_type_v = "f32",
                        .flash_attention = "off"},
            .batch_tokens_busy = 8,
            .waiting_max = 1000,
            .drops_turns = true,
            .speculates = false,
            .cache_ram_bytes = 0};
}

struct Question {
    std::vector<Token> prompt;
    int32_t tokens;
    bool uses_cache = true;
    llama_rt::ImageParts images = {};
    float temperature = 0;
    std::shared_ptr<const llama_rt::Constraint> constraint = nullptr;
};

struct Answer {
    std::string text;
    std::optional<engine::FinishReason> reason;
    std::optional<base::Code> error;
    int32_t cached = 0;
    /// Of texts, where it was asked for these.
    std::vector<float> vectors = {};
    /// Which of all answers was whole first, second, …; 0 while it is not.
    int32_t place = 0;
    /// Last events that came for it: more than one is a mistake of the engine's.
    int32_t ends = 0;

    bool is_whole() const { return reason == engine::FinishReason::length || !vectors.empty(); }
};

class EngineHouse {
public:
    explicit EngineHouse(ModelPtr model, const engine::EngineOptions& options = few_places()) {
        auto started =
            engine::Engine::start(std::move(model), options, [this](auto&& events) { hear(events); });
        if (!started) throw std::runtime_error(started.error().message);
        engine = std::move(*started);
    }

    RequestId submit(const Question& question) {
        const auto id = engine->submit({.client = "",
                                        .prompt = question.prompt,
                                        .sampling = {.temperature = question.temperature,
                                                     .top_k = 40,
                                                     .top_p = 1,
                                                     .min_p = 0,
                                                     .repeat_penalty = 1,
                                                     .repeat_last_n = 64,
                                                     .presence_penalty = 0,
                                                     .frequency_penalty = 0,
                                                     .seed = 1,
                                                     .logit_bias = {}},
                                        .tokens_max = question.tokens,
                                        .stops = {},
                                        .ignore_eos = true,
                                        .uses_cache = question.uses_cache,
                                        .images = question.images,
                                        .constraint = question.constraint,
                                        .logprobs = -1});
        if (!id) throw std::runtime_error(id.error().message);
        return *id;
    }

    RequestId embed(const std::vector<std::vector<Token>>& texts) {
        const auto id = engine->embed(texts);
        if (!id) throw std::runtime_error(id.error().message);
        return *id;
    }

    /// Waits for a request's end.
    Answer wait(RequestId id) {
        std::unique_lock lock(mutex_);
        const auto has_ended = [&] { return answers_[id].place > 0; };
        if (!heard_.wait_for(lock, kWaitMax, has_ended))
            throw std::runtime_error("request " + std::to_string(id) + " has not ended");
        return answers_[id];
    }

    Answer ask(const Question& question) { return wait(submit(question)); }

    /// Asks all of them at once: the first is on its way when the others come.
    std::vector<Answer> ask_all(const std::vector<Question>& questions) {
        std::vector<RequestId> ids;
        {
            // The listener of the first one's first turn waits until all are in.
            std::unique_lock lock(mutex_);
            is_asking_ = true;
            ids.push_back(submit(questions[0]));
            heard_.wait_for(lock, kWaitMax, [&] { return answers_.contains(ids[0]); });
            for (size_t i = 1; i < questions.size(); ++i) ids.push_back(submit(questions[i]));
            is_asking_ = false;
            heard_.notify_all();
        }
        std::vector<Answer> answers;
        for (const RequestId id : ids) answers.push_back(wait(id));
        return answers;
    }

private:
    /// A sanitizer on a busy machine takes long; what hangs takes for ever.
    static constexpr std::chrono::minutes kWaitMax{2};

    /// The engine's thread.
    void hear(const std::vector<engine::Event>& events) {
        engine->check_integrity();
        std::unique_lock lock(mutex_);
        for (const engine::Event& event : events) note(event);
        heard_.notify_all();
        heard_.wait_for(lock, kWaitMax, [&] { return !is_asking_; });
    }

    void note(const engine::Event& event) {
        if (const auto* text = std::get_if<engine::TextEvent>(&event)) {
            answers_[text->id].text += text->text;
            return;
        }
        if (!engine::ends_request(event)) return;
        const auto id_of = [](const auto& one) {
            if constexpr (requires { one.id; }) return one.id;
            else return RequestId{0}; // of no request
        };
        Answer& answer = answers_[std::visit(id_of, event)];
        answer.place = ++ended_;
        answer.ends += 1;
        if (const auto* embeddings = std::get_if<engine::EmbeddingEvent>(&event)) {
            answer.vectors = embeddings->vectors;
        } else if (const auto* finish = std::get_if<engine::FinishEvent>(&event)) {
            answer.reason = finish->reason;
            answer.cached = finish->cached_tokens;
        } else {
            answer.error = std::get<engine::FailureEvent>(event).error.code;
        }
    }

    std::mutex mutex_;
    std::condition_variable heard_;
    // Guarded by mutex_.
    std::map<RequestId, Answer> answers_;
    int32_t ended_ = 0;
    /// Not all of the requests of ask_all() are in: the listener waits for them.
    bool is_asking_ = false;

public:
    /// Last, so that its thread has ended when the rest goes.
    std::unique_ptr<engine::Engine> engine;
};

} // namespace test
