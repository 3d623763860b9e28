// How many tokens an image becomes for LFM2-VL, as its own processor in transformers counts them: 64 to 256 for an image in
// one piece; 256 for each tile of 512 x 512 and those of a thumbnail for a large one.
#include "check.h"

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "llama.h"
#include "mtmd.h"

namespace {

std::string file_from(const char* variable) {
    const char* path = std::getenv(variable);
    if (path == nullptr) throw std::runtime_error(std::string(variable) + " is not set");
    return path;
}

using ModelPtr = std::unique_ptr<llama_model, decltype(&llama_model_free)>;

struct Tokens {
    size_t of_images = 0;
    /// What says where an image, a tile or the thumbnail begins and ends.
    size_t of_markers = 0;
};

class Processor {
public:
    Processor() {
        mtmd_context_params params = mtmd_context_params_default();
        params.use_gpu = false;
        params.warmup = false;
        context_.reset(
            mtmd_init_from_file(file_from("INGLE_TINY_LFM2VL_MMPROJ").c_str(), model_.get(), params));
        if (context_ == nullptr) throw std::runtime_error("the projector cannot be loaded");
    }

    /// Only the size counts: the pixels are left out.
    Tokens count(uint32_t width, uint32_t height) const {
        const mtmd::bitmap_ptr bitmap(mtmd_bitmap_init(width, height, nullptr));
        const mtmd_bitmap* images[] = {bitmap.get()};
        const std::string text = mtmd_default_marker();
        const mtmd_input_text input = {text.data(), text.size(), false, true, nullptr};
        const mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
        if (mtmd_tokenize(context_.get(), chunks.get(), &input, images, 1) != 0)
            throw std::runtime_error("the image cannot be prepared");
        Tokens tokens;
        for (size_t index = 0; index < mtmd_input_chunks_size(chunks.get()); index++) {
            const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks.get(), index);
            const bool is_text = mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT;
            (is_text ? tokens.of_markers : tokens.of_images) += mtmd_input_chunk_get_n_tokens(chunk);
        }
        return tokens;
    }

private:
    ModelPtr model_{
        llama_model_load_from_file(file_from("INGLE_TINY_LFM2VL").c_str(), llama_model_default_params()),
        llama_model_free};
    mtmd::context_ptr context_;
};

} // namespace

TEST_CASE(
    "LFM2-VL: an image in one piece has a token for every 32 x 32 pixels, at least 64 and at most 256") {
    struct Case {
        uint32_t width, height;
        size_t tokens;
    };
    // 336, 400, 464 and 272 are halves of the grid and go to its even lines; 720 x 720 is just not cut into tiles.
    const std::vector<Case> cases = {{256, 384, 96},  {384, 256, 96},  {512, 512, 256}, {300, 300, 81},
                                     {336, 336, 100}, {400, 300, 108}, {464, 272, 112}, {640, 480, 234},
                                     {720, 720, 256}, {1, 1, 64},      {16, 16, 64},    {3000, 10, 94}};
    const Processor processor;
    for (const Case& one : cases) {
        CAPTURE(one.width);
        CAPTURE(one.height);
        const Tokens tokens = processor.count(one.width, one.height);
        CHECK_EQ(tokens.of_images, one.tokens);
        CHECK_EQ(tokens.of_markers, size_t{2});
    }
}

TEST_CASE("LFM2-VL: a large image has 256 tokens for each tile and those of its thumbnail") {
    struct Case {
        uint32_t width, height;
        size_t tiles, thumbnail;
    };
    // The model's page says 1,020 for 1000 x 3000, its processor 768 + 243: the thumbnail is rounded down to 9 x 27.
    const std::vector<Case> cases = {{1000, 3000, 3, 243}, {3000, 1000, 3, 243}, {720, 752, 4, 240},
                                     {1920, 1080, 8, 252}, {4032, 3024, 6, 234}, {5000, 500, 10, 250}};
    const Processor processor;
    for (const Case& one : cases) {
        CAPTURE(one.width);
        CAPTURE(one.height);
        const Tokens tokens = processor.count(one.width, one.height);
        CHECK_EQ(tokens.of_images, 256 * one.tiles + one.thumbnail);
        CHECK_EQ(tokens.of_markers, 3 + one.tiles);
    }
}
