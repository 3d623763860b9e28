// JS objects to plain structs: the reading half of convert.h.
#include "napi/convert.h"
#include "napi/reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace binding {

using base::Code;

namespace {

constexpr int32_t kIntMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kThreadsMax = 512; // GGML_MAX_N_THREADS

/// Pairs of token id and bias; ids outside the vocabulary are dropped by the sampler.
base::Result<std::vector<llama_logit_bias>> to_logit_bias(Napi::Value value) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array) {
        return std::unexpected(wrong("logitBias"));
    }
    const auto flat = value.As<Napi::Float64Array>();
    std::vector<llama_logit_bias> biases;
    for (size_t i = 0; i + 1 < flat.ElementLength(); i += 2) {
        if (!(flat[i] >= 0 && flat[i] <= kIntMax) || std::isnan(flat[i + 1]))
            return std::unexpected(wrong("logitBias"));
        biases.push_back(
            {.token = static_cast<base::Token>(flat[i]), .bias = static_cast<float>(flat[i + 1])});
    }
    return biases;
}

base::Result<llama_rt::Sampling> to_sampling(Napi::Value value) {
    Reader reader(value);
    llama_rt::Sampling sampling{
        .temperature = reader.finite("temperature"),
        .top_k = reader.integer("topK", 0, kIntMax),
        .top_p = reader.finite("topP"),
        .min_p = reader.finite("minP"),
        .repeat_penalty = reader.finite("repeatPenalty"),
        .repeat_last_n = reader.integer("repeatLastN", 0, 1 << 20),
        .presence_penalty = reader.finite("presencePenalty"),
        .frequency_penalty = reader.finite("frequencyPenalty"),
        .seed = 0,
        .logit_bias = {},
    };
    const double seed = reader.real("seed");
    if (!(seed >= 0 && seed <= std::numeric_limits<uint32_t>::max())) return std::unexpected(wrong("seed"));
    sampling.seed = static_cast<uint32_t>(seed);
    if (!(sampling.repeat_penalty > 0)) return std::unexpected(wrong("repeatPenalty"));
    base::Result<std::vector<llama_logit_bias>> bias = to_logit_bias(reader.get("logitBias"));
    if (!bias) return std::unexpected(bias.error());
    sampling.logit_bias = std::move(*bias);
    return reader.done(std::move(sampling));
}

base::Result<llama_rt::VisionOptions> to_vision_options(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::VisionOptions{
        .path = reader.string("path"),
        .threads = reader.integer("threads", 1, kThreadsMax),
        .tokens_min = reader.integer("imageMinTokens", 0, 1 << 20),
        .tokens_max = reader.integer("imageMaxTokens", 0, 1 << 20),
    });
}

} // namespace

base::Result<llama_rt::ModelOptions> to_model_options(Napi::Value value) {
    Reader reader(value);
    llama_rt::ModelOptions options{
        .path = reader.string("path"),
        .gpu_layers = reader.integer("gpuLayers", -1, 1 << 20),
        .mmap = reader.boolean("mmap"),
        .mlock = reader.boolean("mlock"),
    };
    if (const Napi::Value projector = reader.get("projector"); !projector.IsEmpty() && projector.IsObject()) {
        base::Result<llama_rt::VisionOptions> vision = to_vision_options(projector);
        if (!vision) return std::unexpected(vision.error());
        vision->uses_gpu = options.gpu_layers != 0;
        options.vision = std::move(*vision);
    }
    options.workers = reader.list<std::shared_ptr<llama_rt::WorkerConnection>>("workers", to_worker);
    return reader.done(std::move(options));
}

base::Result<std::shared_ptr<llama_rt::WorkerConnection>> to_worker(Napi::Value value) {
    if (value.IsEmpty() || !value.IsExternal()) return std::unexpected(wrong("worker"));
    return *value.As<Napi::External<std::shared_ptr<llama_rt::WorkerConnection>>>().Data();
}

base::Result<llama_rt::WorkerConnection::Options> to_connect_options(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::WorkerConnection::Options{
        .name = reader.string("name"),
        .reply_ms_max = reader.integer("replyMsMax", 1, kIntMax),
    });
}

base::Result<llama_rt::WorkerOptions> to_worker_options(Napi::Value value) {
    Reader reader(value);
    llama_rt::WorkerOptions options{
        .fd = reader.integer("fd", 0, kIntMax),
        .devices = {},
        .bytes_max = {},
        .threads = reader.integer("threads", 1, kThreadsMax),
    };
    const auto to_device = [&options](Napi::Value item) -> base::Result<bool> {
        Reader device(item);
        options.devices.push_back(device.string("name"));
        options.bytes_max.push_back(device.count("bytesMax"));
        return device.done(true);
    };
    static_cast<void>(reader.list<bool>("devices", to_device));
    return reader.done(std::move(options));
}

base::Result<llama_rt::ContextOptions> to_context_options(Napi::Value value) {
    Reader reader(value);
    constexpr int32_t kCellsMax = 1 << 28;
    llama_rt::ContextOptions options{.context_length = reader.integer("contextLength", 3, kCellsMax),
                                     .cells = reader.integer("cells", 2, kCellsMax),
                                     .sequences = reader.integer("parallel", 1, 256), // LLAMA_MAX_SEQ
                                     .batch_tokens = reader.integer("batchTokens", 1, 1 << 20),
                                     .threads = reader.integer("threads", 1, kThreadsMax),
                                     .threads_batch = reader.integer("threadsBatch", 1, kThreadsMax),
                                     .kv_type_k = reader.string("kvTypeK"),
                                     .kv_type_v = reader.string("kvTypeV"),
                                     .flash_attention = reader.string("flashAttention")};
    if (options.cells < options.context_length) return std::unexpected(wrong("cells"));
    // A turn must have room for a token of every sequence.
    options.batch_tokens = std::max(options.batch_tokens, options.sequences);
    return reader.done(std::move(options));
}

base::Result<llama_rt::QuantizeOptions> to_quantize_options(Napi::Value value) {
    Reader reader(value);
    return reader.done(llama_rt::QuantizeOptions{
        .input = reader.string("input"),
        .output = reader.string("output"),
        .file_type = reader.integer("fileType", 0, kIntMax),
        .threads = reader.integer("threads", 1, kThreadsMax),
        .allow_requantize = reader.boolean("allowRequantize"),
        .imatrix = reader.string("imatrix"),
    });
}

base::Result<llama_rt::ImatrixOptions> to_imatrix_options(Napi::Value value) {
    Reader reader(value);
    base::Result<llama_rt::ModelOptions> model = to_model_options(reader.get("model"));
    if (!model) return std::unexpected(model.error());
    constexpr int32_t kChunkTokensMax = 1 << 20;
    return reader.done(llama_rt::ImatrixOptions{
        .model = std::move(*model),
        .output = reader.string("output"),
        .text = reader.string("text"),
        .dataset = reader.string("dataset"),
        .chunk_tokens = reader.integer("chunkTokens", 16, kChunkTokensMax),
        .chunks_max = reader.integer("chunksMax", 0, kIntMax),
        .threads = reader.integer("threads", 1, kThreadsMax),
    });
}

base::Result<engine::EngineOptions> to_engine_options(Napi::Value value) {
    base::Result<llama_rt::ContextOptions> context = to_context_options(value);
    if (!context) return std::unexpected(context.error());
    Reader reader(value);
    return reader.done(engine::EngineOptions{
        .context = std::move(*context),
        .batch_tokens_busy = reader.integer("batchTokensBusy", 0, 1 << 20),
        .waiting_max = reader.integer("waitingMax", 0, 1 << 20),
        .drops_turns = reader.string("contextOverflow") == "shift",
        .speculates = reader.string("speculation") != "off",
        .draft_tokens = reader.integer("draftTokens", 1, 64),
        .cache_ram_bytes = reader.count("cacheRamBytes"),
        .state_file = {.path = reader.string("stateFile"), .key = reader.bytes<32>("stateKey")},
        .kv_block_tokens = reader.integer("kvBlockTokens", 0, 1 << 20),
        .kv_block_seed = std::bit_cast<uint64_t>(reader.bytes<8>("kvBlockSeed")),
    });
}

base::Result<engine::Submission> to_submission(Napi::Value value) {
    Reader reader(value);
    base::Result<std::vector<base::Token>> tokens = to_tokens(reader.get("tokens"));
    if (!tokens) return std::unexpected(tokens.error());
    base::Result<llama_rt::Sampling> sampling = to_sampling(reader.get("sampling"));
    if (!sampling) return std::unexpected(sampling.error());
    base::Result<std::shared_ptr<const llama_rt::Constraint>> constraint =
        to_constraint(reader.get("constraint"));
    if (!constraint) return std::unexpected(constraint.error());
    base::Result<llama_rt::ImageParts> images = to_images(reader.get("images"));
    if (!images) return std::unexpected(images.error());
    return reader.done(engine::Submission{
        .client = reader.string("client"),
        .prompt = std::move(*tokens),
        .sampling = std::move(*sampling),
        .tokens_max = reader.integer("maxTokens", -1, kIntMax),
        .stops = reader.strings("stops"),
        .ignore_eos = reader.boolean("ignoreEos"),
        .uses_cache = reader.boolean("cachePrompt"),
        .images = std::move(*images),
        .constraint = std::move(*constraint),
        .logprobs = reader.integer("logprobs", -1, 20),
    });
}

base::Result<std::string> to_text(Napi::Value value) {
    if (value.IsEmpty() || !value.IsString()) return std::unexpected(wrong("The text"));
    return value.As<Napi::String>().Utf8Value();
}

base::Result<std::vector<base::Token>> to_tokens(Napi::Value value) {
    if (value.IsEmpty() || !value.IsTypedArray() ||
        value.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
        return std::unexpected(wrong("tokens"));
    }
    const auto array = value.As<Napi::Int32Array>();
    return std::vector<base::Token>(array.Data(), array.Data() + array.ElementLength());
}

base::Result<std::vector<std::vector<base::Token>>> to_texts(Napi::Value value) {
    if (!value.IsArray()) return std::unexpected(wrong("texts"));
    const auto array = value.As<Napi::Array>();
    std::vector<std::vector<base::Token>> texts;
    for (uint32_t i = 0; i < array.Length(); ++i) {
        base::Result<std::vector<base::Token>> tokens = to_tokens(array.Get(i));
        if (!tokens) return std::unexpected(tokens.error());
        texts.push_back(std::move(*tokens));
    }
    return texts;
}

} // namespace binding
