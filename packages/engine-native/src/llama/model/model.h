// A loaded model: weights, vocabulary and chat template. Immutable after loading, so that worker threads may tokenize
// and write out templates while the engine's thread computes.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "llama/backend/handles.h"
#include "llama/backend/workers.h"
#include "llama/chat/template_skills.h"
#include "llama/grammar/grammars.h"
#include "llama/vision/vision.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct common_chat_templates;

namespace llama_rt {

struct ModelOptions {
    std::string path;
    int32_t gpu_layers;
    bool mmap;
    bool mlock;
    /// Nothing for a model that reads no pictures.
    std::optional<VisionOptions> vision = std::nullopt;
    /// Machines whose devices hold layers, beside the GPUs of this one. Without any, the devices of this machine alone.
    WorkerConnections workers = {};
};

/// How the vectors of a text's tokens become the vector of the text, as the model's file says.
enum class Pooling { none, mean, first, last, rank, unknown };

struct ModelInfo {
    std::string architecture;
    std::string name;
    std::string quantization;
    int32_t context_length_train;
    int32_t vocabulary_size;
    /// Of a text's vector; a token's inner state may be narrower or wider.
    int32_t embedding_size;
    int32_t layers;
    uint64_t parameters;
    uint64_t size_bytes;
    bool has_chat_template;
    /// Nothing in an outline.
    TemplateSkills chat_template;
    /// It was loaded with a projector for pictures.
    bool reads_images;
    bool is_recurrent;
    /// Each token sees those before it alone. A model that is not causal generates nothing.
    bool is_causal;
    /// Reads with one half and writes with another; nothing here runs such a model.
    bool has_encoder_half;
    Pooling pooling;
    /// A position is in a key as a rotation and nothing else.
    bool has_plain_positions;
    bool has_sliding_window;
    base::Token bos;
    base::Token eos;
    base::Token eot;
    /// They stand around a text with a gap in it: before its beginning, before its end, before what fills the gap.
    base::Token infill_prefix;
    base::Token infill_suffix;
    base::Token infill_middle;
    bool adds_bos;
};

class Model {
public:
    /// Reads the file. `progress` is called on this thread with 0 … 1; `is_aborted` is looked at as often.
    static base::Result<std::shared_ptr<const Model>> load(const ModelOptions& options,
                                                           const std::function<void(float)>& progress,
                                                           const std::atomic<bool>& is_aborted);

    /// Everything but the weights and the chat template: what measure() asks of a model.
    static base::Result<std::shared_ptr<const Model>> outline(const ModelOptions& options);

    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const ModelInfo& info() const { return info_; }
    /// Of its file, or of the first one of several.
    const std::string& path() const { return path_; }
    llama_model* raw() const { return model_.get(); }
    /// The file's chat template, or a plain one where it has none; null in an outline.
    const common_chat_templates* templates() const { return templates_.get(); }
    const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }

    /// Machines that hold layers of it.
    const WorkerConnections& workers() const { return workers_; }

    /// Null where the model reads no pictures.
    Vision* vision() const { return vision_.get(); }

    /// A text that begins with the beginning token itself has it once, also with `add_special`.
    base::Result<std::vector<base::Token>> tokenize(std::string_view text, bool add_special,
                                                    bool parse_special) const;
    std::string detokenize(const std::vector<base::Token>& tokens, bool remove_special,
                           bool unparse_special) const;

    bool is_end_of_generation(base::Token token) const { return llama_vocab_is_eog(vocab(), token); }
    /// All tokens of which that is true.
    const std::vector<base::Token>& end_tokens() const { return end_tokens_; }

    /// The one token that a text is, special ones too; -1 when it is none or several.
    base::Token token_of(std::string_view text) const;

    /// Any thread.
    Grammars& grammars() const { return *grammars_; }

    /// Appends the bytes of a token, which may be a part of a character. Control tokens have none unless they are
    /// written out.
    void append_piece(base::Token token, std::string& bytes, bool writes_special = false) const;

private:
    struct TemplatesDeleter {
        void operator()(common_chat_templates* templates) const;
    };

    Model(llama_model_ptr model, const ModelOptions& options);
    base::Result<void> make_templates(const std::atomic<bool>& is_aborted);
    std::shared_ptr<const Pieces> make_pieces() const;

    // Destroyed in reverse: templates and projector look at the model's vocabulary, and weights lie at the workers.
    WorkerConnections workers_;
    llama_model_ptr model_;
    std::string path_;
    std::shared_ptr<Vision> vision_;
    std::unique_ptr<common_chat_templates, TemplatesDeleter> templates_;
    ModelInfo info_;
    std::vector<base::Token> end_tokens_;
    std::unique_ptr<Grammars> grammars_;
};

} // namespace llama_rt
