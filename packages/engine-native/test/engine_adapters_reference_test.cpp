// Texts with adapters compared with llama.cpp's own: each in a context of its own that computes with its adapters only, and takes the
// likeliest token.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_reference.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "llama-cpp.h"

using base::Token;
using test::ModelPtr;
using test::Reply;
using test::TextRequest;

namespace {

constexpr int32_t kReplyTokens = 16;
const std::array<std::string, 2> kFiles = {"INGLE_TINY_ADAPTER", "INGLE_TINY_ADAPTER_RANK_8"};

ModelPtr load(const std::string& model, std::vector<llama::AdapterFile> adapters) {
    const llama::ModelOptions options{.path = test::tiny_file(model),
                                      .gpu_layers = 0,
                                      .mmap = true,
                                      .mlock = false,
                                      .adapters = std::move(adapters)};
    const std::atomic<bool> is_aborted = false;
    auto loaded = llama::Model::load(options, [](float) {}, is_aborted);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return std::move(*loaded);
}

llama::AdapterFile lora(const std::string& file) {
    return {.path = test::tiny_file(file), .identity = file};
}

/// A vector with a direction for each layer from the second on; another number gives another one.
llama::AdapterFile control_vector(const ModelPtr& model, uint32_t number) {
    llama::AdapterFile vector{.path = "vector", .identity = std::to_string(number)};
    const int32_t values = (llama_model_n_layer(model->raw()) - 1) * llama_model_n_embd(model->raw());
    std::minstd_rand random(number);
    std::normal_distribution<float> normal(0, 0.3F);
    for (int32_t i = 0; i < values; ++i) vector.directions.push_back(normal(random));
    return vector;
}

/// The likeliest tokens after the prompt.
std::string reply_of(llama_context* context, std::vector<Token> prompt) {
    std::string text;
    std::vector<Token> next = std::move(prompt);
    for (int32_t i = 0; i < kReplyTokens; ++i) {
        if (llama_decode(context, llama_batch_get_one(next.data(), static_cast<int32_t>(next.size()))) != 0)
            throw std::runtime_error("tokens cannot be decoded");
        next = {test::likeliest(context)};
        text += test::piece_of(context, next[0]);
    }
    return text;
}

/// With the LoRA adapters of kFiles.
class WithLoras {
public:
    explicit WithLoras(const ModelPtr& model) : model_(model) {
        for (const std::string& file : kFiles)
            adapters_.emplace_back(llama_adapter_lora_init(model->raw(), test::tiny_file(file).c_str()));
    }

    std::string reply(const TextRequest& request) const {
        const llama_context_ptr context(llama_init_from_model(model_->raw(), test::exact_context(128)));
        std::vector<float> scales = request.adapter_scales;
        std::vector<llama_adapter_lora*> adapters;
        for (size_t i = 0; i < scales.size(); ++i) adapters.push_back(adapters_[i].get());
        llama_set_adapters_lora(context.get(), adapters.data(), adapters.size(), scales.data());
        return reply_of(context.get(), request.prompt);
    }

private:
    const ModelPtr model_;
    std::vector<llama_adapter_lora_ptr> adapters_;
};

std::string reply_with_vectors(const ModelPtr& model, const std::vector<llama::AdapterFile>& vectors,
                               const TextRequest& request) {
    const llama_context_ptr context(llama_init_from_model(model->raw(), test::exact_context(128)));
    std::vector<float> sum(vectors[0].directions.size());
    for (size_t i = 0; i < request.adapter_scales.size(); ++i) {
        for (size_t at = 0; at < sum.size(); ++at)
            sum[at] += request.adapter_scales[i] * vectors[i].directions[at];
    }
    if (llama_set_adapter_cvec(context.get(), sum.data(), sum.size(), llama_model_n_embd(model->raw()), 1,
                               llama_model_n_layer(model->raw())) != 0)
        throw std::runtime_error("the vectors cannot be applied");
    return reply_of(context.get(), request.prompt);
}

/// The same prompt for several sets of scales, too long for one step and too many for the slots.
std::vector<TextRequest> requests_with(const std::vector<std::vector<float>>& sets) {
    std::vector<TextRequest> requests;
    for (const int32_t number : {1, 2}) {
        for (const std::vector<float>& scales : sets)
            requests.push_back(
                {.prompt = test::words(number, 30), .tokens = kReplyTokens, .adapter_scales = scales});
    }
    return requests;
}

void check_replies(const ModelPtr& model, const std::vector<TextRequest>& asked,
                   const std::vector<std::string>& expected) {
    for (size_t i = 1; i < expected.size() / 2; ++i) CHECK(expected[i] != expected[0]);
    test::EngineHarness harness(model);
    for (int32_t round = 0; round < 2; ++round) {
        const std::vector<Reply> replies = harness.generate_all(asked);
        for (size_t i = 0; i < replies.size(); ++i) {
            CAPTURE(i);
            CHECK_EQ(replies[i].text, expected[i]);
        }
    }
}

} // namespace

TEST_CASE("adapters: texts are those of llama.cpp with the same adapters, whatever is computed beside them") {
    const ModelPtr model = load("INGLE_TINY_LLAMA", {lora(kFiles[0]), lora(kFiles[1])});
    const WithLoras llama_cpp(model);
    const std::vector<TextRequest> asked = requests_with({{}, {1, 0}, {0, 1}, {-0.5F, 0}, {1, 0.5F}});
    std::vector<std::string> expected;
    for (const TextRequest& request : asked) expected.push_back(llama_cpp.reply(request));
    check_replies(model, asked, expected);
}

TEST_CASE("adapters: texts with control vectors are those of llama.cpp with their sum") {
    for (const std::string file : {"INGLE_TINY_LLAMA", "INGLE_TINY_LFM2"}) {
        CAPTURE(file);
        const ModelPtr sizes = load(file, {});
        const std::vector<llama::AdapterFile> vectors = {control_vector(sizes, 1), control_vector(sizes, 2)};
        const ModelPtr model = load(file, vectors);
        const std::vector<TextRequest> asked = requests_with({{}, {1, 0}, {0, 1}, {-1, 0}, {1, 0.5F}});
        std::vector<std::string> expected;
        for (const TextRequest& request : asked)
            expected.push_back(reply_with_vectors(model, vectors, request));
        check_replies(model, asked, expected);
    }
}
