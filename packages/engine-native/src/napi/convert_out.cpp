// Plain structs to JS objects: the writing half of convert.h.
#include "napi/convert.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace binding {

namespace {

Napi::Object from_device(Napi::Env env, const llama_rt::Device& device) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("name", device.name);
    object.Set("description", device.description);
    object.Set("backend", device.backend);
    object.Set("type", device.type);
    object.Set("memoryFree", static_cast<double>(device.memory_free));
    object.Set("memoryTotal", static_cast<double>(device.memory_total));
    return object;
}

const char* reason_name(engine::FinishReason reason) {
    switch (reason) {
        case engine::FinishReason::stop: return "stop";
        case engine::FinishReason::length: return "length";
        case engine::FinishReason::cancelled: return "cancelled";
    }
    return "stop";
}

/// Writes the members of an event with checked calls: the environment may be going away.
class EventWriter {
public:
    EventWriter(napi_env env, base::RequestId id, const char* type) : env_(env) {
        is_ok_ = napi_create_object(env, &object_) == napi_ok;
        number("id", static_cast<double>(id));
        string("type", type);
    }

    void number(const char* name, double number) {
        napi_value value = nullptr;
        set(name, is_ok_ && napi_create_double(env_, number, &value) == napi_ok ? value : nullptr);
    }

    void string(const char* name, const std::string& text) {
        napi_value value = nullptr;
        const bool is_made =
            is_ok_ && napi_create_string_utf8(env_, text.data(), text.size(), &value) == napi_ok;
        set(name, is_made ? value : nullptr);
    }

    /// A value made with checked calls; null where one failed.
    void value(const char* name, napi_value value) { set(name, is_ok_ ? value : nullptr); }

    napi_value done() const { return is_ok_ ? object_ : nullptr; }

private:
    void set(const char* name, napi_value value) {
        is_ok_ = value != nullptr && napi_set_named_property(env_, object_, name, value) == napi_ok;
    }

    napi_env env_;
    napi_value object_ = nullptr;
    bool is_ok_ = false;
};

/// {bytes, logprob}; null when the environment is going away.
napi_value write(napi_env env, const engine::TokenLogprob& told) {
    napi_value object = nullptr;
    napi_value bytes = nullptr;
    napi_value logprob = nullptr;
    const bool is_made =
        napi_create_object(env, &object) == napi_ok &&
        napi_create_buffer_copy(env, told.bytes.size(), told.bytes.data(), nullptr, &bytes) == napi_ok &&
        napi_create_double(env, static_cast<double>(told.logprob), &logprob) == napi_ok &&
        napi_set_named_property(env, object, "bytes", bytes) == napi_ok &&
        napi_set_named_property(env, object, "logprob", logprob) == napi_ok;
    return is_made ? object : nullptr;
}

/// An array of what `one` makes of each item; null when the environment is going away.
template <class T, class One>
napi_value write_all(napi_env env, const std::vector<T>& items, const One& one) {
    napi_value array = nullptr;
    if (napi_create_array_with_length(env, items.size(), &array) != napi_ok) return nullptr;
    for (uint32_t i = 0; i < items.size(); ++i) {
        napi_value item = one(items[i]);
        if (item == nullptr || napi_set_element(env, array, i, item) != napi_ok) return nullptr;
    }
    return array;
}

napi_value write(napi_env env, const engine::TokenLogprobs& told) {
    napi_value object = write(env, told.chosen);
    napi_value top = write_all(env, told.top, [env](const auto& one) { return write(env, one); });
    if (object == nullptr || top == nullptr) return nullptr;
    return napi_set_named_property(env, object, "top", top) == napi_ok ? object : nullptr;
}

napi_value write(napi_env env, const engine::TextEvent& event) {
    EventWriter writer(env, event.id, "text");
    writer.string("text", event.text);
    writer.number("tokens", event.tokens);
    if (!event.logprobs.empty())
        writer.value("logprobs",
                     write_all(env, event.logprobs, [env](const auto& one) { return write(env, one); }));
    return writer.done();
}

napi_value write(napi_env env, const engine::FinishEvent& event) {
    EventWriter writer(env, event.id, "finish");
    writer.string("reason", reason_name(event.reason));
    writer.string("stop", event.stop);
    writer.number("promptTokens", event.prompt_tokens);
    writer.number("cachedTokens", event.cached_tokens);
    writer.number("completionTokens", event.completion_tokens);
    writer.number("droppedTokens", event.dropped_tokens);
    writer.number("draftedTokens", event.drafted_tokens);
    writer.number("acceptedTokens", event.accepted_tokens);
    writer.number("queueMs", event.queue_ms);
    writer.number("promptMs", event.prompt_ms);
    writer.number("predictedMs", event.predicted_ms);
    return writer.done();
}

/// A Float32Array of its own memory; null when the environment is going away.
napi_value write(napi_env env, const std::vector<float>& numbers) {
    void* data = nullptr;
    napi_value buffer = nullptr;
    napi_value array = nullptr;
    const size_t bytes = numbers.size() * sizeof(float);
    if (napi_create_arraybuffer(env, bytes, &data, &buffer) != napi_ok) return nullptr;
    std::memcpy(data, numbers.data(), bytes);
    const bool is_made =
        napi_create_typedarray(env, napi_float32_array, numbers.size(), buffer, 0, &array) == napi_ok;
    return is_made ? array : nullptr;
}

napi_value write(napi_env env, const engine::EmbeddingEvent& event) {
    EventWriter writer(env, event.id, "embeddings");
    writer.value("vectors", write(env, event.vectors));
    writer.number("promptTokens", event.prompt_tokens);
    writer.number("queueMs", event.queue_ms);
    writer.number("computeMs", event.compute_ms);
    return writer.done();
}

napi_value write(napi_env env, const engine::FailureEvent& event) {
    EventWriter writer(env, event.id, "error");
    writer.string("code", base::code_name(event.error.code));
    writer.string("message", event.error.message);
    return writer.done();
}

napi_value write(napi_env env, const engine::KvBlocksEvent& event) {
    return from_blocks(env, event.report);
}

} // namespace

Napi::Value from_tokens(Napi::Env env, const std::vector<base::Token>& tokens) {
    Napi::Int32Array array = Napi::Int32Array::New(env, tokens.size());
    if (array.IsEmpty()) return array; // the environment is going away
    std::ranges::copy(tokens, array.Data());
    return array;
}

Napi::Value from_pieces(Napi::Env env, const std::string& bytes, const std::vector<int32_t>& ends) {
    Napi::Uint8Array all = Napi::Uint8Array::New(env, bytes.size());
    if (all.IsEmpty()) return all; // the environment is going away
    std::ranges::copy(bytes, all.Data());
    Napi::Object object = Napi::Object::New(env);
    object.Set("bytes", all);
    object.Set("ends", from_tokens(env, ends));
    return object;
}

Napi::Value from_strings(Napi::Env env, const std::vector<std::string>& strings) {
    Napi::Array array = Napi::Array::New(env, strings.size());
    for (size_t i = 0; i < strings.size(); ++i) array.Set(static_cast<uint32_t>(i), strings[i]);
    return array;
}

Napi::Value from_model_info(Napi::Env env, const llama_rt::ModelInfo& info) {
    Napi::Object tokens = Napi::Object::New(env);
    tokens.Set("bos", info.bos);
    tokens.Set("eos", info.eos);
    tokens.Set("eot", info.eot);
    tokens.Set("infillPrefix", info.infill_prefix);
    tokens.Set("infillSuffix", info.infill_suffix);
    tokens.Set("infillMiddle", info.infill_middle);
    Napi::Object object = Napi::Object::New(env);
    object.Set("architecture", info.architecture);
    object.Set("name", info.name);
    object.Set("quantization", info.quantization);
    object.Set("contextLengthTrain", info.context_length_train);
    object.Set("vocabularySize", info.vocabulary_size);
    object.Set("embeddingSize", info.embedding_size);
    object.Set("layers", info.layers);
    object.Set("parameters", static_cast<double>(info.parameters));
    object.Set("sizeBytes", static_cast<double>(info.size_bytes));
    object.Set("hasChatTemplate", info.has_chat_template);
    object.Set("readsImages", info.reads_images);
    object.Set("imageMarker", std::string(llama_rt::Vision::public_marker()));
    const llama_rt::TemplateSkills& skills = info.chat_template;
    Napi::Object chat_template = Napi::Object::New(env);
    chat_template.Set("writesTools", skills.writes_tools);
    chat_template.Set("writesToolCalls", skills.writes_tool_calls);
    chat_template.Set("isLfm2", skills.is_lfm2);
    chat_template.Set("holdsFormOrCalls", skills.holds_form_or_calls);
    object.Set("chatTemplate", chat_template);
    object.Set("isRecurrent", info.is_recurrent);
    object.Set("tokens", tokens);
    object.Set("addsBos", info.adds_bos);
    return object;
}

Napi::Value from_devices(Napi::Env env, const std::vector<llama_rt::Device>& devices) {
    Napi::Array array = Napi::Array::New(env, devices.size());
    for (size_t i = 0; i < devices.size(); ++i)
        array.Set(static_cast<uint32_t>(i), from_device(env, devices[i]));
    return array;
}

/// JavaScript can do nothing with it but hand it back.
Napi::Value from_worker(Napi::Env env, std::shared_ptr<llama_rt::WorkerConnection> worker) {
    using Held = std::shared_ptr<llama_rt::WorkerConnection>;
    auto held = std::make_unique<Held>(std::move(worker));
    Napi::Value external =
        Napi::External<Held>::New(env, held.get(), [](Napi::Env, Held* data) { delete data; });
    if (!external.IsEmpty()) held.release(); // JS owns it, unless the environment is going away
    return external;
}

Napi::Value from_backend_info(Napi::Env env, const llama_rt::BackendInfo& info) {
    Napi::Object upstream = Napi::Object::New(env);
    upstream.Set("version", info.version);
    upstream.Set("commit", info.commit);
    upstream.Set("sources", INGLE_LLAMA_SOURCES);
    Napi::Object object = Napi::Object::New(env);
    object.Set("version", INGLE_VERSION);
    object.Set("llamaCpp", upstream);
    object.Set("gpu", INGLE_GPU);
    object.Set("cpu", INGLE_CPU);
    object.Set("compiler", INGLE_COMPILER);
    object.Set("buildType", INGLE_BUILD_TYPE);
    object.Set("devices", from_devices(env, info.devices));
    object.Set("cpuFeatures", from_strings(env, info.cpu_features));
    object.Set("kvTypes", from_strings(env, info.kv_types));
    return object;
}

Napi::Value from_measure(Napi::Env env, const llama_rt::ModelInfo& info,
                         const std::vector<llama_rt::MemoryUse>& uses) {
    Napi::Array memories = Napi::Array::New(env, uses.size());
    for (size_t i = 0; i < uses.size(); ++i) {
        Napi::Object memory = Napi::Object::New(env);
        memory.Set("device", uses[i].device);
        memory.Set("weightsBytes", static_cast<double>(uses[i].weights));
        memory.Set("contextBytes", static_cast<double>(uses[i].context));
        memory.Set("computeBytes", static_cast<double>(uses[i].compute));
        memories.Set(static_cast<uint32_t>(i), memory);
    }
    Napi::Object object = Napi::Object::New(env);
    object.Set("contextLengthTrain", info.context_length_train);
    object.Set("layers", info.layers);
    object.Set("memories", memories);
    return object;
}

Napi::Value from_imatrix(Napi::Env env, const llama_rt::ImatrixResult& result) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("chunks", result.chunks);
    object.Set("matrices", result.matrices);
    return object;
}

Napi::Value from_stats(Napi::Env env, const engine::Stats& stats) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("running", stats.running);
    object.Set("waiting", stats.waiting);
    object.Set("cells", stats.cells);
    object.Set("cellBytes", static_cast<double>(stats.cell_bytes));
    object.Set("cellsUsed", stats.cells_used);
    object.Set("cellsCached", stats.cells_cached);
    object.Set("turns", static_cast<double>(stats.steps));
    object.Set("promptTokens", static_cast<double>(stats.prompt_tokens));
    object.Set("generatedTokens", static_cast<double>(stats.generated_tokens));
    object.Set("imagesEncoded", static_cast<double>(stats.images_encoded));
    object.Set("preemptions", static_cast<double>(stats.preemptions));
    object.Set("contextShifts", static_cast<double>(stats.context_shifts));
    object.Set("draftedTokens", static_cast<double>(stats.drafted_tokens));
    object.Set("acceptedTokens", static_cast<double>(stats.accepted_tokens));
    object.Set("cacheRamBytes", static_cast<double>(stats.cache_ram_bytes));
    object.Set("cacheRamPieces", stats.cache_ram_pieces);
    object.Set("cacheRamHits", static_cast<double>(stats.cache_ram_hits));
    return object;
}

napi_value from_event(napi_env env, const engine::Event& event) {
    return std::visit([env](const auto& one) { return write(env, one); }, event);
}

} // namespace binding
