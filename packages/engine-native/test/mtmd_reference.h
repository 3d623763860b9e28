// Replies of llama.cpp's own way with images and audio: mtmd's helper computes the prompt chunk by chunk, and the likeliest token
// is taken, as its program llama-mtmd-cli does.
#pragma once

#include "engine_harness.h"
#include "llama_reference.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "llama-cpp.h"
#include "mtmd-helper.h"
#include "mtmd.h"

namespace test {

inline constexpr int32_t kAnswerTokens = 16;
inline constexpr int32_t kMediaContext = 2048;

class MtmdReference {
public:
    /// The model's projector is in the variable with _MMPROJ.
    MtmdReference(const ModelPtr& model, const std::string& variable) : model_(model) {
        mtmd_context_params params = mtmd_context_params_default();
        params.use_gpu = false;
        params.warmup = false;
        params.n_threads = 1;
        params.media_marker = "@";
        projector_.reset(mtmd_init_from_file(tiny_file(variable + "_MMPROJ").c_str(), model->raw(), params));
        if (projector_ == nullptr) throw std::runtime_error("the projector cannot be loaded");
    }

    mtmd_context* projector() const { return projector_.get(); }

    /// The reply to a text in which each "@" stands for one of these.
    std::string reply(const std::string& prompt, const std::vector<mtmd::bitmap>& media) const {
        const llama_context_ptr context = make_context();
        llama_pos position = read(context.get(), prompt, media);
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
        llama_context_params params = exact_context(kMediaContext);
        params.n_batch = params.n_ubatch = 256;
        return llama_context_ptr(llama_init_from_model(model_->raw(), params));
    }

    /// Computes a prompt and returns the position after it.
    llama_pos read(llama_context* context, const std::string& prompt,
                   const std::vector<mtmd::bitmap>& media) const {
        std::vector<const mtmd_bitmap*> pointers;
        for (const mtmd::bitmap& bitmap : media) pointers.push_back(bitmap.ptr.get());
        const mtmd_input_text input = {prompt.data(), prompt.size(), true, true, nullptr};
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

/// The engine's greedy reply to the same.
inline std::string text_of_engine(const ModelPtr& model, const std::string& prompt,
                                  const std::vector<llama::Media>& media) {
    auto tokenized = model->vision()->tokenize({.text = prompt}, "@", media);
    if (!tokenized) throw std::runtime_error(tokenized.error().message);
    engine::EngineOptions options = few_places();
    options.context.context_length = options.context.cells = kMediaContext;
    options.context.batch_tokens = 256;
    options.drops_turns = false;
    EngineHarness harness(model, options);
    const Reply reply = harness.generate({.prompt = std::move(tokenized->tokens),
                                          .tokens = kAnswerTokens,
                                          .images = std::move(tokenized->images)});
    if (!reply.is_whole()) throw std::runtime_error("the reply is not whole");
    return reply.text;
}

} // namespace test
