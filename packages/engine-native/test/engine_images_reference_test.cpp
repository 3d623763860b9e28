// Texts about images compared with those of llama.cpp's own program.
#include "check.h"
#include "engine_harness.h"
#include "mtmd_reference.h"

#include <string>
#include <variant>
#include <vector>

using llama::Media;
using llama::RgbImage;
using test::ModelPtr;

namespace {

/// Colours that change with the position, differently for each number.
RgbImage colours(int32_t number, int32_t width, int32_t height) {
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
    std::vector<Media> pictures;
};

std::vector<mtmd::bitmap> bitmaps_of(const Prompt& prompt) {
    std::vector<mtmd::bitmap> bitmaps;
    for (const Media& picture : prompt.pictures) {
        const auto& image = std::get<RgbImage>(picture);
        bitmaps.emplace_back(static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height),
                             image.data.data());
    }
    return bitmaps;
}

} // namespace

TEST_CASE("images: texts are those of llama.cpp's own program") {
    // One tile, several images, tiles with a thumbnail, a ribbon, and sides that are no multiple of the grid.
    const std::vector<Prompt> prompts = {
        {.text = "What is @ this?", .pictures = {colours(3, 128, 96)}},
        {.text = "@ Which of both is @ darker?", .pictures = {colours(2, 336, 336), colours(5, 40, 200)}},
        {.text = "Read this page: @", .pictures = {colours(7, 800, 900)}},
        {.text = "A ribbon @ and nothing else.", .pictures = {colours(1, 600, 30)}},
    };
    for (const char* variable : {"INGLE_TINY_LFM2VL", "INGLE_TINY_GEMMA3VL", "INGLE_TINY_QWEN2VL"}) {
        const ModelPtr model = test::tiny_model(variable, true);
        const test::MtmdReference llama_cpp(model, variable);
        for (const Prompt& prompt : prompts) {
            CAPTURE(variable);
            CAPTURE(prompt.text);
            CHECK_EQ(test::text_of_engine(model, prompt.text, prompt.pictures),
                     llama_cpp.reply(prompt.text, bitmaps_of(prompt)));
        }
    }
}
