// A loaded model: weights, vocabulary and chat template. Immutable after loading, so that worker threads may tokenize
// and render templates while the engine's thread computes.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"
#include "grammar/grammars.h"
#include "llama/backend/workers.h"
#include "llama/chat/chat_template.h"
#include "llama/model/adapters.h"
#include "llama/model/marked_text.h"
#include "llama/model/placement.h"
#include "llama/model/speculator.h"
#include "llama/vision/vision.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llama-cpp.h"

struct common_chat_templates;

namespace llama {

struct ModelOptions {
    std::string path;
    int32_t gpu_layers;
    bool mmap;
    bool mlock;
    /// Whether to load layers for multi-token prediction, if the file has any.
    bool loads_mtp = false;
    /// Absent for a model without image and audio input.
    std::optional<VisionOptions> vision = std::nullopt;
    /// Machines whose devices hold layers, in addition to this machine's GPUs. Empty: this machine's devices only.
    WorkerConnections workers = {};
    /// Absent: the defaults.
    std::optional<Placement> placement = std::nullopt;
    /// Adapters that requests may use.
    std::vector<AdapterFile> adapters = {};
    /// In place of the file's chat template; empty for that.
    std::string chat_template = {};
};

constexpr auto fields_of(const ModelOptions*) {
    return base::rows(
        base::field("path", &ModelOptions::path),
        base::field("gpuLayers", &ModelOptions::gpu_layers, {.min = -1, .max = 1 << 20}),
        base::field("mmap", &ModelOptions::mmap), base::field("mlock", &ModelOptions::mlock),
        base::field("mtp", &ModelOptions::loads_mtp), base::field("projector", &ModelOptions::vision),
        base::field("workers", &ModelOptions::workers), base::field("placement", &ModelOptions::placement),
        base::field("adapters", &ModelOptions::adapters),
        base::field("chatTemplate", &ModelOptions::chat_template));
}

inline const char* relate(ModelOptions& options) {
    const bool is_without =
        options.placement && options.placement->devices == std::vector<std::string>{"none"};
    if (options.vision) options.vision->uses_gpu = options.gpu_layers != 0 && !is_without;
    return nullptr;
}

/// How token embeddings become the embedding of a text, as specified in the model's file.
enum class Pooling { none, mean, first, last, rank, unknown };

/// Ids; -1 if the vocabulary has none.
struct SpecialTokens {
    base::Token bos;
    base::Token eos;
    base::Token eot;
    /// Separates two texts that are read together.
    base::Token sep;
    /// Fill-in-the-middle: they precede the text before the gap, the text after it, and the text that fills it.
    base::Token infill_prefix;
    base::Token infill_suffix;
    base::Token infill_middle;
    /// Tokens before the name of a project, and before the name of each of its files.
    base::Token infill_project;
    base::Token infill_file;
};

constexpr auto fields_of(const SpecialTokens*) {
    return base::rows(base::field("bos", &SpecialTokens::bos), base::field("eos", &SpecialTokens::eos),
                      base::field("eot", &SpecialTokens::eot), base::field("sep", &SpecialTokens::sep),
                      base::field("infillPrefix", &SpecialTokens::infill_prefix),
                      base::field("infillSuffix", &SpecialTokens::infill_suffix),
                      base::field("infillMiddle", &SpecialTokens::infill_middle),
                      base::field("infillProject", &SpecialTokens::infill_project),
                      base::field("infillFile", &SpecialTokens::infill_file));
}

struct ModelInfo {
    std::string architecture;
    std::string name;
    std::string quantization;
    int32_t context_length_train;
    int32_t vocabulary_size;
    /// Dimensions of a text's embedding; the hidden state of a token may have fewer or more.
    int32_t embedding_size;
    int32_t layers;
    uint64_t parameters;
    uint64_t size_bytes;
    bool has_chat_template;
    /// Default values in an outline.
    TemplateSkills chat_template;
    /// Loaded with a projector for images.
    bool reads_images;
    /// Loaded with a projector for audio.
    bool reads_audio;
    bool is_recurrent;
    /// A sequence's last tokens can be taken back, as drafts need it. llama.cpp can do so with some recurrent states only.
    bool rolls_back;
    /// Layers for multi-token prediction that were loaded and can be computed.
    int32_t mtp_layers;
    /// Of a file that is not a model of its own: its layers draft for another model.
    std::optional<Speculator> speculator = std::nullopt;
    /// Each token attends only to those before it. Models that are not causal cannot generate.
    bool is_causal;
    /// An encoder-decoder model, such as T5. Not supported.
    bool has_encoder_half;
    Pooling pooling;
    /// It has a classifier that scores a pair of texts: a query and a document.
    bool is_reranker;
    /// The prompt of a pair, with {query} and {document} in it; empty if tokens separate the two.
    std::string rerank_template;
    /// Keys hold their position as a rotation only, so that cells can be moved.
    bool has_plain_positions;
    bool has_sliding_window;
    SpecialTokens tokens;
    bool adds_bos;
    bool adds_eos;
    /// Of two texts that are read together, the first one ends with `sep`.
    bool adds_sep;
    /// Stands for an image or an audio in texts that people read and write.
    std::string image_marker = std::string(Vision::public_marker());
};

constexpr auto fields_of(const ModelInfo*) {
    return base::rows(
        base::field("architecture", &ModelInfo::architecture), base::field("name", &ModelInfo::name),
        base::field("quantization", &ModelInfo::quantization),
        base::field("contextLengthTrain", &ModelInfo::context_length_train),
        base::field("vocabularySize", &ModelInfo::vocabulary_size),
        base::field("embeddingSize", &ModelInfo::embedding_size), base::field("layers", &ModelInfo::layers),
        base::field("parameters", &ModelInfo::parameters), base::field("sizeBytes", &ModelInfo::size_bytes),
        base::field("hasChatTemplate", &ModelInfo::has_chat_template),
        base::field("readsImages", &ModelInfo::reads_images),
        base::field("readsAudio", &ModelInfo::reads_audio),
        base::field("imageMarker", &ModelInfo::image_marker),
        base::field("chatTemplate", &ModelInfo::chat_template),
        base::field("isRecurrent", &ModelInfo::is_recurrent),
        base::field("rollsBack", &ModelInfo::rolls_back), base::field("mtpLayers", &ModelInfo::mtp_layers),
        base::field("tokens", &ModelInfo::tokens), base::field("addsBos", &ModelInfo::adds_bos),
        base::field("addsEos", &ModelInfo::adds_eos), base::field("addsSep", &ModelInfo::adds_sep),
        base::field("isReranker", &ModelInfo::is_reranker),
        base::field("rerankTemplate", &ModelInfo::rerank_template));
}

class Model {
public:
    /// Loads the file. Calls `progress` on this thread with 0 … 1, and checks `is_aborted` as often. `model_not_found`,
    /// `model_invalid`, `model_unsupported`, `out_of_memory`, `projector_mismatch`, `worker_lost`, `aborted`.
    static base::Result<std::shared_ptr<const Model>> load(const ModelOptions& options,
                                                           const std::function<void(float)>& progress,
                                                           const std::atomic<bool>& is_aborted);

    /// Loads everything but the weights and the chat template, which is enough for measure().
    static base::Result<std::shared_ptr<const Model>> outline(const ModelOptions& options);

    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const ModelInfo& info() const { return info_; }
    /// The model's file, or the first one of a split model.
    const std::string& path() const { return path_; }
    llama_model* raw() const { return model_.get(); }
    /// The given chat template, or the file's, or a default one if it has none; null in an outline.
    const common_chat_templates* templates() const { return templates_.get(); }
    const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }

    /// Whether all layers are on GPUs of this machine.
    bool is_on_gpu() const;

    /// The name of each layer's device; empty for the processor.
    std::vector<std::string> layer_devices() const;

    /// Machines that hold layers of this model.
    const WorkerConnections& workers() const { return workers_; }

    /// Those of ModelOptions; none in an outline.
    const Adapters& adapters() const { return adapters_; }

    /// Null if the model has no image or audio input.
    Vision* vision() const { return vision_.get(); }

    /// Never produces two beginning-of-text tokens, even with `add_special` and a text that begins with one.
    /// `invalid_argument` if the text is too long or the vocabulary cannot express it.
    base::Result<std::vector<base::Token>> tokenize(std::string_view text, bool add_special,
                                                    bool parse_special) const;
    /// A rendered conversation: with beginning-of-text token, and with special tokens except in its content. Fails as the other one.
    base::Result<std::vector<base::Token>> tokenize(const MarkedText& text) const;
    std::string detokenize(const std::vector<base::Token>& tokens, bool remove_special,
                           bool unparse_special) const;

    bool is_end_of_generation(base::Token token) const { return llama_vocab_is_eog(vocab(), token); }
    /// All tokens for which is_end_of_generation() is true.
    const std::vector<base::Token>& end_tokens() const { return end_tokens_; }

    /// Gives the tokens that the file forbids (`tokenizer.ggml.suppress_tokens`) a probability of 0. `logits` has one for each token of
    /// the vocabulary, or is null.
    void suppress(float* logits) const;
    /// The tokens that the file forbids.
    std::span<const base::Token> suppressed() const { return suppressed_tokens_; }

    /// User-defined tokens that the chat template writes as its own markup, such as <tool_call>, ascending. Others of that kind, such as
    /// indentations, are text like any other.
    const std::vector<base::Token>& markup_tokens() const { return markup_tokens_; }

    /// The token whose text is exactly this, special tokens included; -1 if the text is not one token.
    base::Token token_of(std::string_view text) const;

    /// Any thread.
    grammar::Grammars& grammars() const { return *grammars_; }

    /// Appends a token's bytes, which may be a part of a character. Control tokens have none unless `writes_special`.
    void append_piece(base::Token token, std::string& bytes, bool writes_special = false) const;

private:
    struct TemplatesDeleter {
        void operator()(common_chat_templates* templates) const;
    };

    struct Progress {
        const std::function<void(float)>& report;
        const std::atomic<bool>& is_aborted;
    };

    static base::Result<std::shared_ptr<const Model>> read(const ModelOptions& options, bool is_outline,
                                                           Progress progress);
    Model(llama_model_ptr model, const ModelOptions& options, std::optional<Speculator> speculator);
    base::Result<void> make_templates(const std::string& given, const std::atomic<bool>& is_aborted);
    template <class Tokenize>
    base::Result<std::vector<base::Token>> begun_once(std::string_view text, bool adds_special,
                                                      const Tokenize& tokenize) const;
    std::shared_ptr<const grammar::Pieces> make_pieces() const;

    // Destroyed in reverse: templates and projector use the model's vocabulary, adapters belong to it, and the workers hold some of
    // its weights.
    WorkerConnections workers_;
    llama_model_ptr model_;
    Adapters adapters_;
    std::string path_;
    std::shared_ptr<Vision> vision_;
    std::unique_ptr<common_chat_templates, TemplatesDeleter> templates_;
    ModelInfo info_;
    std::vector<base::Token> end_tokens_;
    std::vector<base::Token> suppressed_tokens_;
    std::vector<base::Token> markup_tokens_;
    std::unique_ptr<grammar::Grammars> grammars_;
};

/// Whether one model can draft for another: the number n of tokens that both vocabularies have, 0 … n - 1. `invalid_argument`, with
/// the reason, if they differ.
base::Result<int32_t> common_vocabulary(const Model& target, const Model& draft);

// Model files (model_file.cpp).

/// Checks that the file exists, that it is GGUF, and that its header's counts are plausible. `model_not_found` if the path cannot be
/// opened, `model_invalid` if it is not a GGUF file of a supported version.
base::Result<void> check_gguf(const std::string& path);

/// `reason` is llama.cpp's message, whose wording is the only thing that tells failures apart. `model_unsupported` for unknown
/// architectures, `out_of_memory` for failed allocations, otherwise `model_invalid`.
base::Error file_error(const std::string& path, const std::string& reason);

/// What follows the last `mark` in lines that llama.cpp logged, or the first line without it, up to the end of that line.
std::string reason_after(std::string_view mark, const std::string& lines);

} // namespace llama
