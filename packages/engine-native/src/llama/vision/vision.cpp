#include "llama/vision/vision.h"

#include "hash/hash.h"
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace llama {

using base::Code;
using base::Token;

namespace {

/// Number of parts whose ids are remembered. A forgotten part gets a new id, and is computed again, when it returns.
constexpr size_t kIdsMax = 65'536;

/// Maximum number of image and audio tokens in all prompts in flight; beyond that, new ones are refused. Scaled pixels take 2 to 40
/// kB per token, spectra 2 to 12.
constexpr int64_t kPreparedMax = 32'768;

/// The last message that mtmd logged, without its function names and line ends.
std::string last_message(std::string lines) {
    while (lines.ends_with('\n')) lines.pop_back();
    const size_t hint = lines.find("\nhint");
    if (hint != std::string::npos) lines.resize(hint);
    if (const size_t line = lines.rfind('\n'); line != std::string::npos) lines.erase(0, line + 1);
    for (const std::string_view mark : {"error: ", "': ", "clip_model_loader: "}) {
        if (const size_t at = lines.rfind(mark); at != std::string::npos) lines.erase(0, at + mark.size());
    }
    return lines.empty() ? "no reason was given" : lines;
}

base::Error load_error(const std::string& path, const std::string& lines) {
    const auto says = [&](std::string_view text) { return lines.find(text) != std::string::npos; };
    if (says("mismatch between text model")) {
        return {.code = Code::projector_mismatch,
                .message = path + " is the projector of another model: its embeddings differ in size from "
                                  "this model's. Use the mmproj file that came with the model."};
    }
    if (says("unknown projector type") || says("unsupported")) {
        return {.code = Code::model_unsupported,
                .message = path + " cannot be used: " + last_message(lines) + "."};
    }
    if (is_out_of_memory(lines)) {
        return {.code = Code::out_of_memory,
                .message = "There is not enough memory for the projector " + path + "."};
    }
    return {.code = Code::model_invalid,
            .message = path + " cannot be read as a projector: " + last_message(lines) +
                       ". The file may be incomplete or damaged; download it again."};
}

base::Result<void> check_image(const RgbImage& image) {
    const auto& [width, height, data] = image;
    const int64_t pixels = int64_t{width} * height;
    if (width < 1 || height < 1 || width > RgbImage::kSideMax || height > RgbImage::kSideMax ||
        pixels > RgbImage::kPixelsMax || static_cast<int64_t>(data.size()) != 3 * pixels) {
        return base::fail(
            Code::invalid_argument,
            "An image must have 1 to 16,384 pixels on each side, at most 67,108,864 pixels, and three bytes "
            "for each.");
    }
    return {};
}

/// The parameters on which a projector's memory depends.
mtmd_context_params size_params(const VisionOptions& options) {
    mtmd_context_params params = mtmd_context_params_default();
    params.use_gpu = options.uses_gpu;
    if (options.tokens_min > 0) params.image_min_tokens = options.tokens_min;
    if (options.tokens_max > 0) params.image_max_tokens = options.tokens_max;
    return params;
}

/// Splits a text at its markers: an image or audio belongs between each two pieces.
/// The content of a piece of this text.
TextInput content_of(std::string_view piece, const MarkedText& text) {
    const auto begin = static_cast<size_t>(piece.data() - text.text.data());
    std::vector<MarkedPart> content;
    for (const auto& [first, end] : text.content) {
        const MarkedPart part(std::max(first, begin), std::min(end, begin + piece.size()));
        if (part.first < part.second) content.emplace_back(part.first - begin, part.second - begin);
    }
    return TextInput({.text = piece, .content = content, .markup = text.markup});
}

std::vector<std::string_view> split(std::string_view text, std::string_view marker) {
    std::vector<std::string_view> pieces;
    for (size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker)) {
        pieces.push_back(text.substr(0, at));
        text.remove_prefix(at + marker.size());
    }
    pieces.push_back(text);
    return pieces;
}

/// Identifies a part: its image or audio, its index in that, its length, and for an image its tokens' positions.
std::string key_of(std::string_view source, int32_t index, const mtmd_input_chunk* chunk) {
    const mtmd_image_tokens* image = mtmd_input_chunk_get_tokens_image(chunk);
    const size_t tokens = mtmd_input_chunk_get_n_tokens(chunk);
    std::vector<uint32_t> shape{static_cast<uint32_t>(index), static_cast<uint32_t>(tokens)};
    for (size_t i = 0; image != nullptr && i < tokens; ++i) {
        const auto [t, x, y, z] = mtmd_image_tokens_get_decoder_pos(image, 0, i);
        shape.insert(shape.end(), {t, x, y, z});
    }
    return std::string(source) + hash_sha256_hex(shape.data(), shape.size() * sizeof shape[0]);
}

/// What identifies the content of a bitmap.
std::string id_of_content(const mtmd::bitmap& bitmap) {
    const bool is_audio = mtmd_bitmap_is_audio(bitmap.ptr.get());
    return hash_sha256_hex(mtmd_bitmap_get_data(bitmap.ptr.get()),
                           mtmd_bitmap_get_n_bytes(bitmap.ptr.get())) +
           (is_audio ? "audio" : std::to_string(bitmap.nx()) + "x" + std::to_string(bitmap.ny()));
}

} // namespace

ImagePart::ImagePart(base::ImageId id, mtmd::input_chunk_ptr chunk, Count prepared)
    : id_(id),
      chunk_(std::move(chunk)),
      tokens_(static_cast<int32_t>(mtmd_input_chunk_get_n_tokens(chunk_.get()))),
      positions_(mtmd_input_chunk_get_n_pos(chunk_.get())),
      prepared_(std::move(prepared)) {
    prepared_->fetch_add(tokens_);
}

ImagePart::~ImagePart() {
    prepared_->fetch_sub(tokens_);
}

mtmd_decoder_pos ImagePart::position_of(size_t token, int32_t begin) const {
    const mtmd_image_tokens* image = mtmd_input_chunk_get_tokens_image(chunk());
    if (image != nullptr) return mtmd_image_tokens_get_decoder_pos(image, begin, token);
    const auto position = static_cast<uint32_t>(begin) + static_cast<uint32_t>(token);
    return {.t = position, .x = position, .y = position, .z = position};
}

Vision::Vision(const llama_model* model, const VisionOptions& options)
    : vocab_(llama_model_get_vocab(model)),
      embedding_size_(llama_model_n_embd_inp(model)),
      is_on_cpu_(!options.uses_gpu || !has_gpu()),
      audio_seconds_max_(options.audio_seconds_max) {}

base::Result<std::shared_ptr<Vision>> Vision::load(const llama_model* model, const VisionOptions& options,
                                                   const std::atomic<bool>& is_aborted) {
    if (const base::Result<void> checked = check_gguf(options.path); !checked)
        return std::unexpected(checked.error());
    std::shared_ptr<Vision> vision(new Vision(model, options));
    mtmd_context_params params = vision->params_for(options);
    params.progress_callback_user_data = const_cast<std::atomic<bool>*>(&is_aborted); // it is only read
    params.progress_callback = [](float, void* data) {
        return !static_cast<const std::atomic<bool>*>(data)->load();
    };
    ErrorLines errors;
    const AssertionsThrow assertions_throw;
    vision->context_.reset(mtmd_init_from_file(options.path.c_str(), model, params));
    if (is_aborted.load()) return base::fail(Code::aborted, "Loading the model was aborted.");
    if (vision->context_ == nullptr) return std::unexpected(load_error(options.path, errors.text()));
    if (!vision->reads_images() && !vision->reads_audio()) {
        return base::fail(Code::model_unsupported,
                          options.path + " is a projector, but not for images or audio. Leave it out.");
    }
    return vision;
}

mtmd_context_params Vision::params_for(const VisionOptions& options) {
    mtmd_context_params params = size_params(options);
    params.print_timings = false;
    params.n_threads = options.threads;
    // Lays out the computation now, so that mismatches in a damaged file are found while loading.
    params.warmup = true;
    params.cb_eval = on_node;
    params.cb_eval_user_data = this;
    return params;
}

base::Result<std::vector<std::pair<ggml_backend_dev_t, size_t>>>
Vision::measure(const VisionOptions& options) {
    ensure_backend();
    if (const base::Result<void> checked = check_gguf(options.path); !checked)
        return std::unexpected(checked.error());
    ErrorLines errors;
    const AssertionsThrow assertions_throw;
    const auto uses = mtmd_get_memory_usage(options.path.c_str(), size_params(options));
    if (uses.empty()) return std::unexpected(load_error(options.path, errors.text()));
    return std::vector<std::pair<ggml_backend_dev_t, size_t>>(uses.begin(), uses.end());
}

base::Result<Vision::Prompt> Vision::tokenize(const MarkedText& text, std::string_view marker,
                                              std::span<const Media> media) {
    if (prepared_->load() >= kPreparedMax) {
        return base::fail(Code::overloaded, "Too many images or audios are waiting. Try again in a moment.");
    }
    const AssertionsThrow assertions_throw;
    try {
        return tokenize_pieces(text, split(text.text, marker), media);
    } catch (const std::bad_alloc&) {
        return base::fail(Code::out_of_memory, "There is not enough memory for these images or audios.");
    } catch (const std::exception& error) {
        return base::fail(Code::invalid_argument,
                          std::string("An image or audio could not be read: ") + error.what() + ".");
    }
}

base::Result<mtmd::bitmap> Vision::bitmap_of(const RgbImage& image) const {
    if (!reads_images()) {
        return base::fail(
            Code::image_not_supported,
            "This model's projector reads audio, and no images. Use a model that reads images.");
    }
    if (base::Result<void> checked = check_image(image); !checked) return std::unexpected(checked.error());
    return mtmd::bitmap(static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height),
                        image.data.data());
}

base::Result<mtmd::bitmap> Vision::bitmap_of(const AudioFile& audio, size_t samples_max) const {
    if (!reads_audio()) {
        return base::fail(Code::audio_not_supported,
                          "This model's projector reads images, and no audio. Use a model that takes audio.");
    }
    const int32_t rate = mtmd_get_audio_sample_rate(context_.get());
    auto samples = decode_audio(audio.data, rate, samples_max);
    if (!samples) return std::unexpected(samples.error());
    if (audio_seconds_max_ > 0 &&
        samples->size() > static_cast<size_t>(audio_seconds_max_) * static_cast<size_t>(rate)) {
        return base::fail(Code::audio_invalid, "An audio is too long for this model's encoder, which takes " +
                                                   std::to_string(audio_seconds_max_) +
                                                   " seconds at a time. Send it in parts.");
    }
    return mtmd::bitmap(mtmd_bitmap_init_from_audio(samples->size(), samples->data()));
}

base::Result<Vision::Prompt> Vision::tokenize_pieces(const MarkedText& text,
                                                     const std::vector<std::string_view>& pieces,
                                                     std::span<const Media> media) {
    if (pieces.size() != media.size() + 1) {
        return base::fail(Code::template_failed,
                          "The model's chat template does not render every image or audio of this "
                          "conversation exactly once.");
    }
    std::vector<TextInput> contents;
    std::vector<llama_text_input> inputs;
    for (const std::string_view piece : pieces) contents.push_back(content_of(piece, text));
    for (const TextInput& content : contents) inputs.push_back(content.input());
    std::vector<mtmd_input_text> texts;
    std::vector<mtmd::bitmap> bitmaps;
    for (size_t i = 0; i < pieces.size(); ++i)
        texts.push_back({.text = pieces[i].data(),
                         .text_len = pieces[i].size(),
                         .add_special = false,
                         .parse_special = true,
                         .input = &inputs[i]});
    size_t samples_max = static_cast<size_t>(AudioFile::kSecondsMax) *
                         static_cast<size_t>(std::max(0, mtmd_get_audio_sample_rate(context_.get())));
    for (const Media& one : media) {
        const auto* image = std::get_if<RgbImage>(&one);
        base::Result<mtmd::bitmap> bitmap =
            image != nullptr ? bitmap_of(*image) : bitmap_of(std::get<AudioFile>(one), samples_max);
        if (!bitmap) return std::unexpected(bitmap.error());
        if (image == nullptr) samples_max -= bitmap->nx();
        bitmaps.push_back(std::move(*bitmap));
        // The number separates an image or audio from an equal one next to it; collect() removes it.
        bitmaps.back().set_id((id_of_content(bitmaps.back()) + "#" + std::to_string(bitmaps.size())).c_str());
    }
    std::vector<mtmd_input_part> parts;
    for (size_t i = 0; i < pieces.size(); ++i) {
        if (!pieces[i].empty()) parts.push_back({.text = &texts[i], .bitmap = nullptr});
        if (i < bitmaps.size()) parts.push_back({.text = nullptr, .bitmap = bitmaps[i].ptr.get()});
    }
    std::vector<const mtmd_input_part*> pointers;
    for (const mtmd_input_part& part : parts) pointers.push_back(&part);
    ErrorLines errors;
    const mtmd::input_chunks chunks(mtmd_input_chunks_init());
    if (mtmd_tokenize_from_parts(context_.get(), chunks.ptr.get(), pointers.data(), pointers.size(), true) !=
        0)
        return base::fail(Code::invalid_argument,
                          "An image or audio could not be read: " + last_message(errors.text()) + ".");
    return collect(chunks.ptr.get());
}

base::Result<Vision::Prompt> Vision::collect(const mtmd_input_chunks* chunks) {
    Prompt prompt;
    std::string_view source;
    int32_t index = 0;
    for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
        const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks, i);
        size_t count = mtmd_input_chunk_get_n_tokens(chunk);
        if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_TEXT) {
            const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &count);
            prompt.tokens.insert(prompt.tokens.end(), tokens, tokens + count);
            continue;
        }
        const std::string_view id = mtmd_input_chunk_get_id(chunk);
        index = id == source ? index + 1 : 0;
        source = id;
        const base::Result<base::ImageId> known = id_of(key_of(id.substr(0, id.find('#')), index, chunk));
        if (!known) return std::unexpected(known.error());
        prompt.tokens.push_back(base::image_token(*known, true));
        prompt.tokens.insert(prompt.tokens.end(), count - 1, base::image_token(*known, false));
        if (mtmd_input_chunk_get_type(chunk) == MTMD_INPUT_CHUNK_TYPE_AUDIO)
            prompt.audio_tokens += static_cast<int32_t>(count);
        const auto is_same = [&](const auto& part) { return part->id() == *known; };
        if (std::ranges::any_of(prompt.images, is_same)) continue;
        prompt.images.push_back(std::make_shared<const ImagePart>(
            *known, mtmd::input_chunk_ptr(mtmd_input_chunk_copy(chunk)), prepared_));
    }
    const Token bos = llama_vocab_bos(vocab_);
    const bool is_begun_twice = llama_vocab_get_add_bos(vocab_) && prompt.tokens.size() > 1 &&
                                prompt.tokens[0] == bos && prompt.tokens[1] == bos;
    if (is_begun_twice) prompt.tokens.erase(prompt.tokens.begin());
    return prompt;
}

base::Result<base::ImageId> Vision::id_of(const std::string& key) {
    std::lock_guard lock(ids_mutex_);
    if (const auto found = ids_.find(key); found != ids_.end()) {
        seen_.splice(seen_.begin(), seen_, found->second);
        return found->second->second;
    }
    if (ids_given_ == base::kImageIdMax) {
        return base::fail(
            Code::engine_failed,
            "This model has read a billion images, and has no ids left for more. Load it again.");
    }
    if (seen_.size() == kIdsMax) {
        ids_.erase(seen_.back().first);
        seen_.pop_back();
    }
    seen_.emplace_front(key, ++ids_given_);
    ids_.emplace(seen_.front().first, seen_.begin());
    return ids_given_;
}

/// ggml calls this before each node, to ask whether to observe it, and after each observed one. On the CPU, the large nodes are
/// observed, so that an encoding can be paused or ended there. While ggml asks, no thread computes.
bool Vision::on_node(ggml_tensor* node, bool is_asked, void* data) {
    auto* vision = static_cast<Vision*>(data);
    if (is_asked) {
        vision->check_node(*node);
        return vision->is_on_cpu_ && (node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_FLASH_ATTN_EXT);
    }
    if (!vision->is_ended_ && vision->keep_going_ != nullptr) vision->is_ended_ = !(*vision->keep_going_)();
    return !vision->is_ended_;
}

/// Throws if the node cannot be computed; mtmd turns that into an error code.
void Vision::check_node(const ggml_tensor& node) {
    assertions_throw_.reset();
    if (!is_on_host(node)) return;
    if (const auto reason = not_computable(node))
        throw std::runtime_error(*reason + ": the projector's file is damaged");
}

base::Result<std::vector<float>> Vision::encode(const ImagePart& part,
                                                const std::function<bool()>& keep_going) {
    std::lock_guard lock(encode_mutex_);
    ErrorLines errors;
    keep_going_ = &keep_going;
    is_ended_ = false;
    assertions_throw_.emplace();
    const int32_t code = mtmd_encode_chunk(context_.get(), part.chunk()); // catches exceptions itself
    assertions_throw_.reset();
    keep_going_ = nullptr;
    const std::string what = part.is_audio() ? "audio" : "image";
    if (is_ended_) return base::fail(Code::aborted, "Encoding the " + what + " was aborted.");
    if (code != 0) {
        const Code why = is_out_of_memory(errors.text()) ? Code::out_of_memory : Code::engine_failed;
        return base::fail(why, "The " + what + " could not be encoded: " + last_message(errors.text()) + ".");
    }
    const float* numbers = mtmd_get_output_embd(context_.get());
    const auto size = static_cast<size_t>(part.tokens()) * static_cast<size_t>(embedding_size_);
    try {
        return std::vector(numbers, numbers + size);
    } catch (const std::bad_alloc&) {
        return base::fail(Code::out_of_memory, "There is not enough memory to encode the " + what + ".");
    }
}

} // namespace llama
