#include "engine_harness.h"

#include <cstdlib>
#include <map>
#include <stdexcept>

namespace test {
namespace {

void append(std::vector<engine::TokenLogprobs>& all, const std::vector<engine::TokenLogprobs>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

} // namespace

std::string tiny_file(const std::string& variable) {
    const char* path = std::getenv(variable.c_str());
    if (path == nullptr) throw std::runtime_error(variable + " is not set; see test/cpp.test.ts");
    return path;
}

ModelPtr tiny_model(const std::string& variable, bool sees) {
    static std::map<std::string, ModelPtr> models;
    ModelPtr& model = models[variable];
    if (model != nullptr) return model;
    const std::atomic<bool> is_aborted = false;
    llama::ModelOptions options{
        .path = tiny_file(variable), .gpu_layers = 0, .mmap = true, .mlock = false, .loads_mtp = true};
    if (sees)
        options.vision = llama::VisionOptions{.path = tiny_file(variable + "_MMPROJ"), .uses_gpu = false};
    auto loaded = llama::Model::load(options, [](float) {}, is_aborted);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return model = std::move(*loaded);
}

engine::EngineOptions few_places() {
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
            .speculation = engine::SpeculationMode::off,
            .cache_ram_bytes = 0};
}

EngineHarness::EngineHarness(ModelPtr model, const engine::EngineOptions& options) {
    auto started = engine::Engine::start(std::move(model), options,
                                         [this](auto&& events, const auto&) { hear(events); });
    if (!started) throw std::runtime_error(started.error().message);
    engine = std::move(*started);
}

RequestId EngineHarness::submit(const TextRequest& request) {
    const sampling::Sampling sampling{.temperature = request.temperature,
                                      .top_k = 40,
                                      .top_p = 1,
                                      .min_p = 0,
                                      .repeat_penalty = 1,
                                      .repeat_last_n = 64,
                                      .presence_penalty = 0,
                                      .frequency_penalty = 0,
                                      .seed = 1,
                                      .logit_bias = {}};
    const auto id = engine->submit({.client = "",
                                    .prompt = request.prompt,
                                    .sampling = sampling,
                                    .tokens_max = request.tokens,
                                    .stops = {},
                                    .ignore_eos = true,
                                    .uses_cache = request.uses_cache,
                                    .images = request.images,
                                    .constraint = request.constraint,
                                    .logprobs = request.prompt_logprobs,
                                    .adapter_scales = request.adapter_scales,
                                    .prompt_logprobs = request.prompt_logprobs,
                                    .id_slot = request.id_slot});
    if (!id) throw std::runtime_error(id.error().message);
    return *id;
}

RequestId EngineHarness::embed(const std::vector<std::vector<Token>>& texts,
                               const engine::MemoryLimits& limits) {
    const auto id = engine->embed(texts, limits);
    if (!id) throw std::runtime_error(id.error().message);
    return *id;
}

Reply EngineHarness::wait(RequestId id) {
    std::unique_lock lock(mutex_);
    const auto has_ended = [&] { return replies_[id].place > 0; };
    if (!heard_.wait_for(lock, kWaitMax, has_ended))
        throw std::runtime_error("request " + std::to_string(id) + " has not ended");
    return replies_[id];
}

std::vector<Reply> EngineHarness::generate_all(const std::vector<TextRequest>& requests) {
    std::vector<RequestId> ids;
    {
        // The listener of the first one's first step waits until all are in.
        std::unique_lock lock(mutex_);
        is_asking_ = true;
        ids.push_back(submit(requests[0]));
        heard_.wait_for(lock, kWaitMax, [&] { return replies_.contains(ids[0]); });
        for (size_t i = 1; i < requests.size(); ++i) ids.push_back(submit(requests[i]));
        is_asking_ = false;
        heard_.notify_all();
    }
    std::vector<Reply> replies;
    for (const RequestId id : ids) replies.push_back(wait(id));
    return replies;
}

void EngineHarness::hear(const std::vector<engine::Event>& events) {
    engine->check_integrity();
    std::unique_lock lock(mutex_);
    for (const engine::Event& event : events) note(event);
    heard_.notify_all();
    heard_.wait_for(lock, kWaitMax, [&] { return !is_asking_; });
}

void EngineHarness::note(const engine::Event& event) {
    if (const auto* text = std::get_if<engine::TextEvent>(&event)) {
        replies_[text->id].text += text->text;
        append(replies_[text->id].logprobs, text->logprobs);
        return;
    }
    if (const auto* prompt = std::get_if<engine::PromptEvent>(&event)) {
        replies_[prompt->id].computed.push_back(prompt->computed);
        append(replies_[prompt->id].prompt_logprobs, prompt->logprobs);
        return;
    }
    if (!engine::ends_request(event)) return;
    const auto id_of = [](const auto& one) {
        if constexpr (requires { one.id; }) return one.id;
        else return RequestId{0}; // of no request
    };
    Reply& reply = replies_[std::visit(id_of, event)];
    reply.place = ++ended_;
    reply.ends += 1;
    if (const auto* embeddings = std::get_if<engine::EmbeddingEvent>(&event)) {
        reply.vectors = embeddings->vectors;
    } else if (const auto* finish = std::get_if<engine::FinishEvent>(&event)) {
        reply.reason = finish->reason;
        reply.cached = finish->cached_tokens;
    } else {
        const base::Error& error = std::get<engine::FailureEvent>(event).error;
        reply.error = error.code;
        for (const auto& [device, bytes] : error.needed_memory) reply.needed_bytes += bytes;
    }
}

bool is_refused(EngineHarness& harness, const TextRequest& request) {
    try {
        harness.submit(request);
        return false;
    } catch (const std::runtime_error&) {
        return true;
    }
}

} // namespace test
