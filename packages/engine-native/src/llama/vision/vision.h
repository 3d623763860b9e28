// A model's projector: what turns pictures into something that it can read among its words. llama.cpp's mtmd is called here
// and nowhere else but for memory (measure.cpp).
//
//     pixels ── tokenize(): scaled, cut into tiles (worker threads) ──▶ ImagePart ── encode() (one thread) ──▶ numbers
//
// A part (a picture, or a tile of one) is so many tokens of the text. Parts that look the same to this projector have the
// same id for as long as it is remembered: equal pictures are equal tokens (base/image_tokens.h).
#pragma once

#include "base/image_tokens.h"
#include "base/result.h"
#include "llama/backend/assertions.h"
#include "llama/backend/handles.h"

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
#include <vector>

#include "mtmd.h"

namespace llama_rt {

/// Rows from top to bottom, three bytes a pixel.
struct RgbImage {
    int32_t width;
    int32_t height;
    std::vector<uint8_t> data;
};

struct VisionOptions {
    /// The projector's GGUF file.
    std::string path;
    /// Threads that encode, where no GPU does it.
    int32_t threads = 1;
    bool uses_gpu = true;
    /// Tokens that a picture has at least and at most, where the projector lets that be chosen; 0 for what its file says.
    int32_t tokens_min = 0;
    int32_t tokens_max = 0;
};

class ImagePart {
public:
    using Count = std::shared_ptr<std::atomic<int64_t>>;

    /// `prepared` counts the tokens of all parts that are there.
    ImagePart(base::ImageId id, mtmd::input_chunk_ptr chunk, Count prepared);
    ~ImagePart();
    ImagePart(const ImagePart&) = delete;
    ImagePart& operator=(const ImagePart&) = delete;

    base::ImageId id() const { return id_; }
    int32_t tokens() const { return tokens_; }
    /// By how much the position of what follows is higher than that of its first token: with M-RoPE less than tokens().
    int32_t positions() const { return positions_; }
    const mtmd_input_chunk* chunk() const { return chunk_.get(); }

private:
    const base::ImageId id_;
    const mtmd::input_chunk_ptr chunk_;
    const int32_t tokens_;
    const int32_t positions_;
    const Count prepared_;
};

/// The parts of a prompt's images, each once.
using ImageParts = std::vector<std::shared_ptr<const ImagePart>>;

/// Where the part of this id is; their end where there is none.
inline ImageParts::const_iterator find_part(const ImageParts& parts, base::ImageId id) {
    return std::ranges::find(parts, id, [](const auto& part) { return part->id(); });
}

class Vision {
public:
    /// Longest side of a picture, and most pixels: what the preprocessing computes with as int32, and 192 MiB.
    static constexpr int32_t kSideMax = 16'384;
    static constexpr int64_t kPixelsMax = int64_t{1} << 26;

    static base::Result<std::shared_ptr<Vision>> load(const llama_model* model, const VisionOptions& options,
                                                      const std::atomic<bool>& is_aborted);

    /// Bytes by device; `model_invalid` when the file cannot be laid out.
    static base::Result<std::vector<std::pair<ggml_backend_dev_t, size_t>>>
    measure(const VisionOptions& options);

    /// Stands for a picture in texts that people see and write: llama.cpp's own word for it.
    static std::string_view public_marker() { return mtmd_default_marker(); }

    struct Prompt {
        std::vector<base::Token> tokens;
        ImageParts images;
    };
    /// A text in which `marker` stands for the pictures, one after the other. Any thread. `template_failed` when there
    /// are not as many markers as pictures, `overloaded` when too many pictures wait for being encoded.
    base::Result<Prompt> tokenize(std::string_view text, std::string_view marker,
                                  std::span<const RgbImage> pictures);

    /// The numbers that stand for a part's tokens, embedding_size() each. `goes_on` is asked every few milliseconds where
    /// the processor does it; false ends it with `aborted`. Any thread, one at a time.
    base::Result<std::vector<float>> encode(const ImagePart& part, const std::function<bool()>& goes_on);

    /// The processor encodes: it takes the cores from other work for that.
    bool is_on_cpu() const { return is_on_cpu_; }
    int32_t embedding_size() const { return embedding_size_; }
    /// The tokens of an image see each other: it has to be computed as a whole.
    bool has_whole_images() const { return mtmd_decode_use_non_causal(context_.get(), nullptr); }
    /// The tokens of an image have positions in two dimensions.
    bool has_mrope() const { return mtmd_decode_use_mrope(context_.get()); }

private:
    Vision(const llama_vocab* vocab, int32_t embedding_size, bool is_on_cpu);
    mtmd_context_params params_for(const VisionOptions& options);
    static bool on_node(ggml_tensor* node, bool is_asked, void* data);
    void check_node(const ggml_tensor& node);
    base::Result<Prompt> tokenize_pieces(const std::vector<std::string_view>& pieces,
                                         std::span<const RgbImage> pictures);
    base::Result<Prompt> collect(const mtmd_input_chunks* chunks);
    base::Result<base::ImageId> id_of(const std::string& key);

    const llama_vocab* vocab_;
    const int32_t embedding_size_;
    const bool is_on_cpu_;
    mtmd::context_ptr context_;
    const ImagePart::Count prepared_ = std::make_shared<std::atomic<int64_t>>(0);

    // Guarded by encode_mutex_, as is context_ while it encodes.
    std::mutex encode_mutex_;
    const std::function<bool()>* goes_on_ = nullptr;
    bool is_ended_ = false;
    /// Until the first node is computed.
    std::optional<AssertionsThrow> assertions_throw_;

    // Guarded by ids_mutex_: the parts that are remembered, most recently seen first.
    std::mutex ids_mutex_;
    std::list<std::pair<std::string, base::ImageId>> seen_;
    std::unordered_map<std::string_view, std::list<std::pair<std::string, base::ImageId>>::iterator> ids_;
    base::ImageId ids_given_ = 0;
};

} // namespace llama_rt
