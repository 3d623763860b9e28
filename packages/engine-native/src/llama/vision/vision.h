// A model's projector, which turns images and audio into embeddings that the model reads among its text. Wraps llama.cpp's mtmd.
//
//     pixels ── tokenize(): scale, cut into tiles (worker threads) ──▶ ImagePart ── encode() (one thread) ──▶ embeddings
//
// Audio takes the same way: tokenize() decodes the file and computes its spectrum, in windows of half a minute. A part (an image, a
// tile of one, or a window of an audio) takes a number of tokens in the text. Parts that look the same to this projector have
// the same id for as long as it is remembered, so that equal images are equal tokens (base/types.h).
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"
#include "llama/audio/decode_audio.h"
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/model/marked_text.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "mtmd.h"

namespace llama {

/// Rows from top to bottom, three bytes per pixel.
struct RgbImage {
    /// Maximum side length and number of pixels of an image: the preprocessing computes in int32, and the pixels take at most 192
    /// MiB.
    static constexpr int32_t kSideMax = 16'384;
    static constexpr int64_t kPixelsMax = int64_t{1} << 26;

    int32_t width;
    int32_t height;
    std::vector<uint8_t> data;
};

constexpr auto fields_of(const RgbImage*) {
    constexpr base::Rule<int32_t> kSide{.min = 1, .max = RgbImage::kSideMax};
    return base::rows(base::field("width", &RgbImage::width, kSide),
                      base::field("height", &RgbImage::height, kSide),
                      base::field("data", &RgbImage::data, {.size_max = 3 * RgbImage::kPixelsMax}));
}

using Media = std::variant<RgbImage, AudioFile>;

struct VisionOptions {
    /// The projector's GGUF file.
    std::string path;
    /// Threads that encode, unless a GPU does.
    int32_t threads = 1;
    bool uses_gpu = true;
    /// Minimum and maximum number of tokens per image, for projectors with a variable number; 0 uses the file's values.
    int32_t tokens_min = 0;
    int32_t tokens_max = 0;
    /// The longest audio that it encodes; 0 for all that a prompt may have.
    int32_t audio_seconds_max = 0;
};

constexpr auto fields_of(const VisionOptions*) {
    constexpr base::Rule<int32_t> kTokens{.min = 0, .max = 1 << 20};
    return base::rows(base::field("path", &VisionOptions::path),
                      base::field("threads", &VisionOptions::threads, kThreads),
                      base::field("imageMinTokens", &VisionOptions::tokens_min, kTokens),
                      base::field("imageMaxTokens", &VisionOptions::tokens_max, kTokens),
                      base::field("audioSecondsMax", &VisionOptions::audio_seconds_max, kTokens));
}

class ImagePart {
public:
    using Count = std::shared_ptr<std::atomic<int64_t>>;

    /// `prepared` counts the tokens of all living parts.
    ImagePart(base::ImageId id, mtmd::input_chunk_ptr chunk, Count prepared);
    ~ImagePart();
    ImagePart(const ImagePart&) = delete;
    ImagePart& operator=(const ImagePart&) = delete;

    base::ImageId id() const { return id_; }
    int32_t tokens() const { return tokens_; }
    /// Positions that the part takes; with M-RoPE, fewer than tokens() for an image.
    int32_t positions() const { return positions_; }
    bool is_audio() const { return mtmd_input_chunk_get_type(chunk()) == MTMD_INPUT_CHUNK_TYPE_AUDIO; }
    /// The position of one of its tokens if the first one has the position `begin`.
    mtmd_decoder_pos position_of(size_t token, int32_t begin) const;
    const mtmd_input_chunk* chunk() const { return chunk_.get(); }

private:
    const base::ImageId id_;
    const mtmd::input_chunk_ptr chunk_;
    const int32_t tokens_;
    const int32_t positions_;
    const Count prepared_;
};

/// The distinct parts of a prompt's images and audio.
using ImageParts = std::vector<std::shared_ptr<const ImagePart>>;

/// Finds the part with this id; returns the end if there is none.
inline ImageParts::const_iterator find_part(const ImageParts& parts, base::ImageId id) {
    return std::ranges::find(parts, id, [](const auto& part) { return part->id(); });
}

class Vision {
public:
    /// Loads a projector for a model. `model_not_found`, `model_invalid`, `model_unsupported`, `projector_mismatch`,
    /// `out_of_memory`, `aborted`.
    static base::Result<std::shared_ptr<Vision>> load(const llama_model* model, const VisionOptions& options,
                                                      const std::atomic<bool>& is_aborted);

    /// Bytes that the projector needs, by device; `model_invalid` if the file cannot be laid out.
    static base::Result<std::vector<std::pair<ggml_backend_dev_t, size_t>>>
    measure(const VisionOptions& options);

    /// Stands for an image or an audio in texts that people read and write: llama.cpp's own marker.
    static std::string_view public_marker() { return mtmd_default_marker(); }

    struct Prompt {
        std::vector<base::Token> tokens;
        ImageParts images;
        /// How many of the tokens stand for audio.
        int32_t audio_tokens = 0;
    };
    /// Tokenizes a text in which each `marker` stands for the next image or audio. `template_failed` unless there are as many
    /// markers as these, `image_not_supported` or `audio_not_supported` if the projector has no encoder for one, `overloaded` if
    /// too many of their tokens are in flight, `invalid_argument` or `audio_invalid` for one that cannot be read, `out_of_memory`. Any
    /// thread.
    base::Result<Prompt> tokenize(const MarkedText& text, std::string_view marker,
                                  std::span<const Media> media);

    /// Computes the embeddings of a part's tokens, embedding_size() numbers each. On the CPU, calls `keep_going` every few
    /// milliseconds; if that returns false, it ends with `aborted`. Otherwise `engine_failed` or `out_of_memory`. Any thread, one
    /// at a time.
    base::Result<std::vector<float>> encode(const ImagePart& part, const std::function<bool()>& keep_going);

    /// Whether images are encoded on the CPU, which takes cores from other work.
    bool is_on_cpu() const { return is_on_cpu_; }
    int32_t embedding_size() const { return embedding_size_; }
    bool reads_images() const { return mtmd_support_vision(context_.get()); }
    bool reads_audio() const { return mtmd_support_audio(context_.get()); }
    /// Whether the tokens of an image attend to each other, so that an image must be computed in one batch.
    bool has_whole_images() const { return mtmd_decode_use_non_causal(context_.get(), nullptr); }
    /// Whether the tokens of this part do.
    bool is_whole(const ImagePart& part) const {
        return mtmd_decode_use_non_causal(context_.get(), part.chunk());
    }
    /// Whether the tokens of an image have positions in two dimensions (M-RoPE).
    bool has_mrope() const { return mtmd_decode_use_mrope(context_.get()); }

private:
    Vision(const llama_model* model, const VisionOptions& options);
    mtmd_context_params params_for(const VisionOptions& options);
    static bool on_node(ggml_tensor* node, bool is_asked, void* data);
    void check_node(const ggml_tensor& node);
    base::Result<Prompt> tokenize_pieces(const MarkedText& text, const std::vector<std::string_view>& pieces,
                                         std::span<const Media> media);
    base::Result<mtmd::bitmap> bitmap_of(const RgbImage& image) const;
    base::Result<mtmd::bitmap> bitmap_of(const AudioFile& audio, size_t samples_max) const;
    base::Result<Prompt> collect(const mtmd_input_chunks* chunks);
    base::Result<base::ImageId> id_of(const std::string& key);

    const llama_vocab* vocab_;
    const int32_t embedding_size_;
    const bool is_on_cpu_;
    const int32_t audio_seconds_max_;
    mtmd::context_ptr context_;
    const ImagePart::Count prepared_ = std::make_shared<std::atomic<int64_t>>(0);

    // Guarded by encode_mutex_, as is context_ while it encodes.
    std::mutex encode_mutex_;
    const std::function<bool()>* keep_going_ = nullptr;
    bool is_ended_ = false;
    /// Set until the first node is computed.
    std::optional<AssertionsThrow> assertions_throw_;

    // Guarded by ids_mutex_: the parts that are remembered, most recently seen first.
    std::mutex ids_mutex_;
    std::list<std::pair<std::string, base::ImageId>> seen_;
    std::unordered_map<std::string_view, std::list<std::pair<std::string, base::ImageId>>::iterator> ids_;
    base::ImageId ids_given_ = 0;
};

constexpr auto fields_of(const Vision::Prompt*) {
    return base::rows(base::field("tokens", &Vision::Prompt::tokens),
                      base::field("images", &Vision::Prompt::images),
                      base::field("audioTokens", &Vision::Prompt::audio_tokens));
}

} // namespace llama
