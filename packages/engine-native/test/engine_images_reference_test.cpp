// Texts about images compared with llama.cpp's own: mtmd's helper computes the prompt chunk by chunk, and the likeliest token is
// taken, as its program llama-mtmd-cli does.
#include "check.h"
#include "engine_harness.h"
#include "llama_reference.h"

#include <memory>
#include <string>
#include <vector>

#include "llama-cpp.h"
#include "mtmd-helper.h"
#include "mtmd.h"

using base::Token;
using llama_rt::RgbImage;
using test::EngineHarness;
using test::ModelPtr;
using test::Reply;
using test::TextRequest;

namespace {

constexpr int32_t kAnswerTokens = 16;
constexpr int32_t kContextTokens = 2048;

/// Colours that change with the position, differently for each number.
RgbImage picture(int32_t number, int32_t width, int32_t height) {
    RgbImage image{.width = width, .height = height, .data = {}};
    for (int32_t y = 0; y < height; ++y) {
        for (int32_t x = 0; x < width; ++x) {
            for (const int32_t value : {x * number, y * (number + 1), (x + y) / number})
                image.data.push_back(static_cast<uint8_t>(value % 256));
        }
    }
    return image;
}

/// A text in which "@" stands for an image.
struct Prompt {
    std::string text;
    std::vector<RgbImage> pictures;
};

class LlamaCpp {
public:
    LlamaCpp(const ModelPtr& model, const std::string& variable) : model_(model) {
        mtmd_context_params params = mtmd_context_params_default();
        params.use_gpu = false;
        params.warmup = false;
        params.n_threads = 1;
        params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
        params.media_marker = "@";
        projector_.reset(
            mtmd_init_from_file(test::tiny_file(variable + "_MMPROJ").c_str(), model->raw(), params));
        if (projector_ == nullptr) throw std::runtime_error("the projector cannot be loaded");
    }

    std::string reply(const Prompt& prompt) const {
        const llama_context_ptr context = make_context();
        llama_pos position = read(context.get(), prompt);
        std::string text;
        for (int32_t i = 0; i < kAnswerTokens; ++i) {
            Token token = test::likeliest(context.get());
            text += test::piece_of(context.get(), token);
            llama_batch batch = llama_batch_get_one(&token, 1);
            batch.pos = &position;
            if (llama_decode(context.get(), batch) != 0)
                throw std::runtime_error("a token cannot be decoded");
            ++position;
        }
        return text;
    }

private:
    llama_context_ptr make_context() const {
        llama_context_params params = test::exact_context(kContextTokens);
        params.n_batch = params.n_ubatch = 256;
        return llama_context_ptr(llama_init_from_model(model_->raw(), params));
    }

    /// Computes a prompt and returns the position after it.
    llama_pos read(llama_context* context, const Prompt& prompt) const {
        std::vector<mtmd::bitmap> bitmaps;
        for (const RgbImage& image : prompt.pictures)
            bitmaps.emplace_back(static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height),
                                 image.data.data());
        std::vector<const mtmd_bitmap*> pointers;
        for (const mtmd::bitmap& bitmap : bitmaps) pointers.push_back(bitmap.ptr.get());
        const mtmd_input_text input = {prompt.text.data(), prompt.text.size(), true, true};
        const mtmd::input_chunks chunks(mtmd_input_chunks_init());
        if (mtmd_tokenize(projector_.get(), chunks.ptr.get(), &input, pointers.data(), pointers.size()) != 0)
            throw std::runtime_error("the prompt cannot be prepared");
        llama_pos position = 0;
        const int32_t batch_tokens = static_cast<int32_t>(llama_n_batch(context));
        if (mtmd_helper_eval_chunks(projector_.get(), context, chunks.ptr.get(), 0, 0, batch_tokens, true,
                                    &position) != 0)
            throw std::runtime_error("the prompt cannot be computed");
        return position;
    }

    const ModelPtr model_;
    mtmd::context_ptr projector_;
};

std::string text_of_engine(const ModelPtr& model, const Prompt& prompt) {
    auto tokenized = model->vision()->tokenize(prompt.text, "@", prompt.pictures);
    if (!tokenized) throw std::runtime_error(tokenized.error().message);
    engine::EngineOptions options = test::few_places();
    options.context.context_length = options.context.cells = kContextTokens;
    options.context.batch_tokens = 256;
    options.drops_turns = false;
    EngineHarness harness(model, options);
    const Reply reply = harness.generate({.prompt = std::move(tokenized->tokens),
                                          .tokens = kAnswerTokens,
                                          .images = std::move(tokenized->images)});
    REQUIRE(reply.is_whole());
    return reply.text;
}

} // namespace

TEST_CASE("images: texts are those of llama.cpp's own program") {
    // One tile, several images, tiles with a thumbnail, a ribbon, and sides that are no multiple of the grid.
    const std::vector<Prompt> prompts = {
        {.text = "What is @ this?", .pictures = {picture(3, 128, 96)}},
        {.text = "@ Which of both is @ darker?", .pictures = {picture(2, 336, 336), picture(5, 40, 200)}},
        {.text = "Read this page: @", .pictures = {picture(7, 800, 900)}},
        {.text = "A ribbon @ and nothing else.", .pictures = {picture(1, 600, 30)}},
    };
    for (const char* variable : {"INGLE_TINY_LFM2VL", "INGLE_TINY_GEMMA3VL", "INGLE_TINY_QWEN2VL"}) {
        const ModelPtr model = test::tiny_model(variable, true);
        const LlamaCpp llama_cpp(model, variable);
        for (const Prompt& prompt : prompts) {
            CAPTURE(variable);
            CAPTURE(prompt.text);
            CHECK_EQ(text_of_engine(model, prompt), llama_cpp.reply(prompt));
        }
    }
}
