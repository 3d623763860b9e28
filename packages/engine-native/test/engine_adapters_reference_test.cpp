// Texts with LoRA adapters compared with llama.cpp's own: each in a context of its own that computes with its adapters only, and takes
// the likeliest token.
#include "check.h"
#include "engine_harness.h"
#include "engine_requests.h"
#include "llama_reference.h"

#include <array>
#include <atomic>
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

ModelPtr model_with_adapters() {
    llama_rt::ModelOptions options{
        .path = test::tiny_file("INGLE_TINY_LLAMA"), .gpu_layers = 0, .mmap = true, .mlock = false};
    for (const std::string& file : kFiles)
        options.adapters.push_back({.path = test::tiny_file(file), .identity = file});
    const std::atomic<bool> is_aborted = false;
    auto loaded = llama_rt::Model::load(options, [](float) {}, is_aborted);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return std::move(*loaded);
}

class LlamaCpp {
public:
    explicit LlamaCpp(const ModelPtr& model) : model_(model) {
        for (const std::string& file : kFiles)
            adapters_.emplace_back(llama_adapter_lora_init(model->raw(), test::tiny_file(file).c_str()));
    }

    std::string reply(std::vector<Token> prompt, std::vector<float> scales) const {
        const llama_context_ptr context(llama_init_from_model(model_->raw(), test::exact_context(128)));
        std::vector<llama_adapter_lora*> adapters;
        for (size_t i = 0; i < scales.size(); ++i) adapters.push_back(adapters_[i].get());
        llama_set_adapters_lora(context.get(), adapters.data(), adapters.size(), scales.data());
        decode(context.get(), prompt);
        std::string text;
        for (int32_t i = 0; i < kReplyTokens; ++i) {
            std::vector<Token> next{test::likeliest(context.get())};
            text += test::piece_of(context.get(), next[0]);
            decode(context.get(), next);
        }
        return text;
    }

private:
    static void decode(llama_context* context, std::vector<Token>& tokens) {
        if (llama_decode(context, llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()))) !=
            0)
            throw std::runtime_error("tokens cannot be decoded");
    }

    const ModelPtr model_;
    std::vector<llama_adapter_lora_ptr> adapters_;
};

} // namespace

TEST_CASE("adapters: texts are those of llama.cpp with the same adapters, whatever is computed beside them") {
    const ModelPtr model = model_with_adapters();
    const LlamaCpp llama_cpp(model);
    const std::vector<std::vector<float>> sets = {{}, {1, 0}, {0, 1}, {-0.5F, 0}, {1, 0.5F}};
    std::vector<TextRequest> asked;
    // The same prompt for several sets, too long for one step and too many for the slots.
    for (const int32_t number : {1, 2}) {
        for (const std::vector<float>& scales : sets)
            asked.push_back(
                {.prompt = test::words(number, 30), .tokens = kReplyTokens, .adapter_scales = scales});
    }
    std::vector<std::string> expected;
    for (const TextRequest& request : asked)
        expected.push_back(llama_cpp.reply(request.prompt, request.adapter_scales));
    for (size_t i = 1; i < sets.size(); ++i) CHECK(expected[i] != expected[0]);
    test::EngineHarness harness(model);
    for (int32_t round = 0; round < 2; ++round) {
        const std::vector<Reply> replies = harness.generate_all(asked);
        for (size_t i = 0; i < replies.size(); ++i) {
            CAPTURE(i);
            CHECK_EQ(replies[i].text, expected[i]);
        }
    }
}
