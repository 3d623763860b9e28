#include "llama/model/model.h"

#include "../src/llama-arch.h" // no public header has what an architecture can do
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/chat/conversation.h"
#include "llama/model/marked_text.h"
#include "llama/model/speculator.h"

#include <algorithm>
#include <array>
#include <climits>
#include <exception>
#include <limits>
#include <utility>

#include "chat.h"

// Declared in llama.cpp's src/llama-model.h, which includes nearly all of llama.cpp.
const std::vector<std::pair<std::string, ggml_tensor*>>&
llama_internal_get_tensor_map(const llama_model* model); // NOLINT

namespace llama {

using base::Code;
using base::Token;

namespace {

/// Longest text to tokenize, in bytes: llama.cpp counts in int32, and no context holds as much.
constexpr size_t kTextBytesMax = 256 * 1024 * 1024;

/// Longest chat template, in bytes; the longest known one has 17 kB.
constexpr size_t kTemplateBytesMax = 64 * 1024;

/// What llama.cpp logged, without its function names: "…: error loading model: REASON".
std::string reason_of(const std::string& lines) {
    const std::string reason = reason_after("error loading model: ", lines);
    // llama.cpp says no more about a header that ends too early.
    if (reason.starts_with("llama_model_loader: failed to load model")) return "its header is incomplete";
    return reason.empty() ? "no reason was given" : reason;
}

llama_model_params to_params(const ModelOptions& options, const PlacedParams& placed) {
    llama_model_params params = llama_model_default_params();
    placed.apply(params);
    if (options.mmap) params.load_mode = options.mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP;
    else params.load_mode = options.mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE;
    params.load_mtp = options.loads_mtp;
    return params;
}

/// llama.cpp's "Q4_K - Medium" and "IQ2_XXS - 2.0625 bpw" by their common names: "Q4_K_M", "IQ2_XXS".
std::string quantization_name(llama_ftype ftype) {
    std::string name = llama_ftype_name(ftype);
    if (name.starts_with("(guessed) ")) name = name.substr(10);
    if (name == "all F32") return "F32";
    if (name == "MXFP4 MoE") return "MXFP4_MOE";
    if (name.starts_with("IQ3_S mix")) return "IQ3_M";
    if (name == "Q2_K - Medium") return "Q2_K";
    const std::string type = name.substr(0, name.find(' '));
    if (name.ends_with("- Small")) return type + "_S";
    if (name.ends_with("- Medium")) return type + "_M";
    if (name.ends_with("- Large")) return type + "_L";
    return name.starts_with("unknown") ? "unknown" : type;
}

std::string metadata(const llama_model* model, const char* key) {
    std::array<char, 512> value{};
    const int32_t length = llama_model_meta_val_str(model, key, value.data(), value.size());
    return length < 0 ? std::string() : std::string(value.data());
}

/// False if the header has NaN, infinite or negative epsilon values, which break every computation. llama.cpp asserts some of
/// them while it computes.
bool has_sane_numbers(const llama_model* model) {
    const std::string prefix = metadata(model, "general.architecture") + ".";
    for (int32_t i = 0; i < llama_model_meta_count(model); ++i) {
        std::array<char, 256> key{};
        std::array<char, 32> text{};
        llama_model_meta_key_by_index(model, i, key.data(), key.size());
        llama_model_meta_val_str_by_index(model, i, text.data(), text.size());
        const std::string_view name(key.data());
        const std::string_view value(text.data());
        if (!name.starts_with(prefix)) continue;
        const bool is_finite = value != "nan" && value != "-nan" && value != "inf" && value != "-inf";
        if (!is_finite || (name.ends_with("_epsilon") && value.starts_with("-"))) return false;
    }
    return true;
}

base::Error not_locked() {
    return {.code = Code::invalid_argument,
            .message =
                "mlock: the system does not let this process lock so much memory. Raise its limit (ulimit "
                "-l, or LimitMEMLOCK of systemd), or leave the option out.",
            .param = "mlock"};
}

/// Rejects models that llama.cpp loads but that cannot be used here.
base::Result<void> check_raw(const llama_model* model, const std::string& path) {
    if (!has_sane_numbers(model))
        return std::unexpected(file_error(path, "a number in its header is out of range"));
    if (llama_vocab_type(llama_model_get_vocab(model)) == LLAMA_VOCAB_TYPE_NONE) {
        return base::fail(Code::model_unsupported,
                          path + " has no tokenizer: its key tokenizer.ggml.model is \"" +
                              metadata(model, "tokenizer.ggml.model") +
                              "\". Choose a model file that includes its tokenizer.");
    }
    return {};
}

/// False where keys hold more than a rotation by their position: YaRN and similar methods scale them too.
bool has_plain_positions(const llama_model* model) {
    const llama_rope_type type = llama_model_rope_type(model);
    if (type != LLAMA_ROPE_TYPE_NORM && type != LLAMA_ROPE_TYPE_NEOX) return false;
    const std::string scaling = metadata(model, "general.architecture") + ".rope.scaling.";
    const std::string kind = metadata(model, (scaling + "type").c_str());
    const bool is_scaled = !metadata(model, (scaling + "attn_factor").c_str()).empty();
    return !is_scaled && (kind.empty() || kind == "none" || kind == "linear");
}

Pooling pooling_of(const llama_model* model) {
    const std::string key = metadata(model, "general.architecture") + ".pooling_type";
    const std::string number = metadata(model, key.c_str());
    if (number.empty() || number == "0") return Pooling::none;
    if (number == "1") return Pooling::mean;
    if (number == "2") return Pooling::first;
    if (number == "3") return Pooling::last;
    return number == "4" ? Pooling::rank : Pooling::unknown;
}

/// A file may specify the pooling of a reranker and lack its classifier, or have one that gives no score.
bool is_reranker(const llama_model* model) {
    if (pooling_of(model) != Pooling::rank || llama_model_n_cls_out(model) == 0) return false;
    const auto is_classifier = [](const auto& named) { return named.first == "cls.output.weight"; };
    return std::ranges::any_of(llama_internal_get_tensor_map(model), is_classifier);
}

std::string unreadable(const std::string& reason) {
    return "it cannot be read: " + reason + ".";
}

std::string rerank_template(const llama_model* model) {
    const char* text = llama_model_chat_template(model, "rerank");
    return text == nullptr ? "" : text;
}

bool is_causal(const llama_model* model) {
    const std::string key = metadata(model, "general.architecture") + ".attention.causal";
    return metadata(model, key.c_str()) != "false";
}

ModelInfo read_info(const llama_model* model, std::optional<Speculator> speculator) {
    const llama_vocab* vocab = llama_model_get_vocab(model);
    const bool is_recurrent = llama_model_is_recurrent(model) || llama_model_is_hybrid(model);
    return {.architecture = metadata(model, "general.architecture"),
            .name = metadata(model, "general.name"),
            .quantization = quantization_name(llama_model_ftype(model)),
            .context_length_train = llama_model_n_ctx_train(model),
            .vocabulary_size = llama_vocab_n_tokens(vocab),
            .embedding_size = llama_model_n_embd_out(model),
            .layers = llama_model_n_layer(model),
            .parameters = llama_model_n_params(model),
            .size_bytes = llama_model_size(model),
            .has_chat_template = llama_model_chat_template(model, nullptr) != nullptr,
            .chat_template = {},
            .reads_images = false,
            .reads_audio = false,
            .is_recurrent = is_recurrent,
            .rolls_back = !is_recurrent || llm_arch_supports_rs_rollback(
                                               llm_arch_from_string(metadata(model, "general.architecture"))),
            .mtp_layers = mtp_layers(model),
            .speculator = std::move(speculator),
            .is_causal = is_causal(model),
            .has_encoder_half = llama_model_has_encoder(model),
            .pooling = pooling_of(model),
            .is_reranker = is_reranker(model),
            .rerank_template = rerank_template(model),
            .has_plain_positions = has_plain_positions(model),
            .has_sliding_window = llama_model_n_swa(model) > 0,
            .tokens = {.bos = llama_vocab_bos(vocab),
                       .eos = llama_vocab_eos(vocab),
                       .eot = llama_vocab_eot(vocab),
                       .sep = llama_vocab_sep(vocab),
                       .infill_prefix = llama_vocab_fim_pre(vocab),
                       .infill_suffix = llama_vocab_fim_suf(vocab),
                       .infill_middle = llama_vocab_fim_mid(vocab),
                       .infill_project = llama_vocab_fim_rep(vocab),
                       .infill_file = llama_vocab_fim_sep(vocab)},
            .adds_bos = llama_vocab_get_add_bos(vocab),
            .adds_eos = llama_vocab_get_add_eos(vocab),
            .adds_sep = llama_vocab_get_add_sep(vocab)};
}

/// `tokenize` is called with room for the tokens as llama_tokenize() is.
template <class Tokenize>
base::Result<std::vector<Token>> tokenize_with(const llama_vocab* vocab, std::string_view text,
                                               const Tokenize& tokenize) {
    if (text.size() > kTextBytesMax)
        return base::fail(Code::invalid_argument, "The text is too long to be tokenized.");
    // A first estimate: most tokens have two bytes or more, and special tokens are added.
    std::vector<Token> tokens(text.size() / 2 + 16);
    int32_t count = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
        count = tokenize(tokens.data(), static_cast<int32_t>(tokens.size()));
        if (count >= 0 || count == INT32_MIN) break;
        tokens.resize(static_cast<size_t>(-count));
    }
    if (count < 0) return base::fail(Code::invalid_argument, "The text could not be tokenized.");
    tokens.resize(static_cast<size_t>(count));
    // A vocabulary without an unknown token yields invalid ids for text that it cannot express.
    const auto is_token = [size = llama_vocab_n_tokens(vocab)](Token token) {
        return token >= 0 && token < size;
    };
    if (std::ranges::all_of(tokens, is_token)) return tokens;
    return base::fail(
        Code::invalid_argument,
        "The text could not be tokenized: this model's vocabulary has no token for a part of it.");
}

} // namespace

void Model::TemplatesDeleter::operator()(common_chat_templates* templates) const {
    common_chat_templates_free(templates);
}

Model::Model(llama_model_ptr model, const ModelOptions& options, std::optional<Speculator> speculator)
    : workers_(options.workers),
      model_(std::move(model)),
      path_(options.path),
      info_(read_info(model_.get(), std::move(speculator))) {
    for (Token token = 0; token < info_.vocabulary_size; ++token) {
        if (is_end_of_generation(token)) end_tokens_.push_back(token);
    }
    int32_t count = 0;
    const Token* suppressed = llama_vocab_get_suppress_tokens(vocab(), &count);
    suppressed_tokens_.assign(suppressed, suppressed + count);
    grammars_ = std::make_unique<grammar::Grammars>([this](std::string_view text) { return token_of(text); },
                                                    [this] { return make_pieces(); });
}

Model::~Model() = default;

base::Result<std::shared_ptr<const Model>> Model::load(const ModelOptions& options,
                                                       const std::function<void(float)>& progress,
                                                       const std::atomic<bool>& is_aborted) {
    return read(options, false, {.report = progress, .is_aborted = is_aborted});
}

base::Result<std::shared_ptr<const Model>> Model::outline(const ModelOptions& options) {
    const std::atomic<bool> is_aborted = false;
    return read(options, true, {.report = [](float) {}, .is_aborted = is_aborted});
}

base::Result<std::shared_ptr<const Model>> Model::read(const ModelOptions& options, bool is_outline,
                                                       Progress progress) {
    ensure_backend();
    if (const base::Result<void> checked = check_gguf(options.path); !checked)
        return std::unexpected(checked.error());
    const Placement placement = options.placement.value_or(Placement());
    const auto placed = PlacedParams::create(placement, options.gpu_layers, options.workers);
    if (!placed) return std::unexpected(placed.error());
    llama_model_params params = to_params(options, **placed);
    if (is_outline) {
        params.no_alloc = true;
        params.load_mode = LLAMA_LOAD_MODE_NONE;
    }
    params.progress_callback_user_data = &progress;
    params.progress_callback = [](float fraction, void* data) {
        const auto* state = static_cast<Progress*>(data);
        state->report(fraction);
        return !state->is_aborted.load();
    };

    ErrorLines errors;
    std::string lines; // to see whether an option had an effect
    const bool is_checked = !placement.kv_overrides.empty() || options.mlock;
    const LogListener listener([&](int, const char* text) {
        if (is_checked) lines += text;
    });
    const AssertionsThrow assertions_throw;
    try {
        llama_model_ptr raw(llama_model_load_from_file(options.path.c_str(), params));
        if (progress.is_aborted.load()) return base::fail(Code::aborted, "Loading the model was aborted.");
        // The worker may have received only a part of its weights.
        if (is_any_lost(options.workers)) return std::unexpected(worker_lost());
        if (raw == nullptr) return std::unexpected(file_error(options.path, reason_of(errors.text())));
        if (base::Result<void> checked = check_raw(raw.get(), options.path); !checked)
            return std::unexpected(checked.error());
        if (base::Result<void> checked = check_placed(placement, raw.get(), lines); !checked)
            return std::unexpected(checked.error());
        if (lines.find("failed to mlock") != std::string::npos) return std::unexpected(not_locked());
        auto speculator = read_speculator(raw.get(), options.path, is_outline);
        if (!speculator) return std::unexpected(speculator.error());
        std::shared_ptr<Model> model(new Model(std::move(raw), options, std::move(*speculator)));
        if (is_outline) return model;
        const std::string& given = options.chat_template;
        if (base::Result<void> made = model->make_templates(given, progress.is_aborted); !made)
            return std::unexpected(made.error());
        base::Result<Adapters> adapters = Adapters::load(model->raw(), options.adapters);
        if (!adapters) return std::unexpected(adapters.error());
        model->adapters_ = std::move(*adapters);
        if (options.vision) {
            auto vision = Vision::load(model->raw(), *options.vision, progress.is_aborted);
            if (!vision) return std::unexpected(vision.error());
            model->vision_ = std::move(*vision);
            model->info_.reads_images = model->vision_->reads_images();
            model->info_.reads_audio = model->vision_->reads_audio();
        }
        return model;
    } catch (const std::exception& error) {
        if (is_any_lost(options.workers)) return std::unexpected(worker_lost());
        return std::unexpected(file_error(options.path, reason_of(error.what())));
    }
}

/// Parses the chat templates, with a `given` one in place of the file's unless it is empty. llama.cpp renders them a few times to find
/// out what they support.
base::Result<void> Model::make_templates(const std::string& given, const std::atomic<bool>& is_aborted) {
    if (given.size() > kTemplateBytesMax)
        return base::wrong_option("chatTemplate", "it has more than " + std::to_string(kTemplateBytesMax) +
                                                      " bytes, which is the limit.");
    for (const char* name : {static_cast<const char*>(nullptr), "tool_use", "rerank"}) {
        const char* source = llama_model_chat_template(raw(), name);
        if (source == nullptr || std::string_view(source).size() <= kTemplateBytesMax) continue;
        return base::fail(Code::model_invalid,
                          path_ + " has a chat template of more than " + std::to_string(kTemplateBytesMax) +
                              " bytes, which is the limit. Choose another file of this model.");
    }
    const jinja::work_limit limit(template_allowance({}, is_aborted));
    try {
        templates_.reset(common_chat_templates_init(raw(), given).release());
        info_.chat_template = skills_of(*templates_);
        markup_tokens_ = markup_in(vocab(), info_.chat_template.source);
        info_.has_chat_template |= !given.empty();
    } catch (const std::exception& error) {
        if (limit.ended() == nullptr && given.empty()) throw;
        if (limit.ended() == nullptr) return base::wrong_option("chatTemplate", unreadable(error.what()));
    }
    if (is_aborted.load()) return base::fail(Code::aborted, "Loading the model was aborted.");
    if (limit.ended() == nullptr) return {};
    if (!given.empty()) return base::wrong_option("chatTemplate", unreadable(limit.ended()));
    return base::fail(Code::model_invalid,
                      path_ + " has a chat template that cannot be read: " + limit.ended() + ".");
}

template <class Tokenize>
base::Result<std::vector<Token>> Model::begun_once(std::string_view text, bool adds_special,
                                                   const Tokenize& tokenize) const {
    const AssertionsThrow assertions_throw;
    try {
        base::Result<std::vector<Token>> tokens = tokenize_with(vocab(), text, tokenize);
        const bool is_begun = adds_special && info_.adds_bos;
        if (is_begun && tokens && tokens->size() > 1 && (*tokens)[0] == info_.tokens.bos &&
            (*tokens)[1] == info_.tokens.bos)
            tokens->erase(tokens->begin());
        return tokens;
    } catch (const std::exception& error) {
        return base::fail(Code::invalid_argument,
                          std::string("The text could not be tokenized: ") + error.what());
    }
}

base::Result<std::vector<Token>> Model::tokenize(std::string_view text, bool add_special,
                                                 bool parse_special) const {
    return begun_once(text, add_special, [&](Token* tokens, int32_t most) {
        return llama_tokenize(vocab(), text.data(), static_cast<int32_t>(text.size()), tokens, most,
                              add_special, parse_special);
    });
}

base::Result<std::vector<Token>> Model::tokenize(const MarkedText& text) const {
    const TextInput content(text);
    const llama_text_input input = content.input();
    return begun_once(text.text, true, [&](Token* tokens, int32_t most) {
        return llama_tokenize_with_input(vocab(), text.text.data(), static_cast<int32_t>(text.text.size()),
                                         &input, tokens, most, true);
    });
}

std::string Model::detokenize(const std::vector<Token>& tokens, bool remove_special,
                              bool unparse_special) const {
    std::string text(tokens.size() * 8 + 16, '\0');
    for (int attempt = 0; attempt < 2; ++attempt) {
        const int32_t length =
            llama_detokenize(vocab(), tokens.data(), static_cast<int32_t>(tokens.size()), text.data(),
                             static_cast<int32_t>(text.size()), remove_special, unparse_special);
        text.resize(static_cast<size_t>(length < 0 ? -length : length));
        if (length >= 0) break;
    }
    return text;
}

Token Model::token_of(std::string_view text) const {
    const base::Result<std::vector<Token>> tokens = tokenize(text, false, true);
    return tokens && tokens->size() == 1 ? tokens->front() : -1;
}

void Model::suppress(float* logits) const {
    if (logits == nullptr) return;
    for (const Token token : suppressed_tokens_) logits[token] = -std::numeric_limits<float>::infinity();
}

std::shared_ptr<const grammar::Pieces> Model::make_pieces() const {
    std::vector<std::string> texts(static_cast<size_t>(info_.vocabulary_size));
    for (Token token = 0; token < info_.vocabulary_size; ++token)
        append_piece(token, texts[static_cast<size_t>(token)]);
    return std::make_shared<const grammar::Pieces>(texts, end_tokens_);
}

void Model::append_piece(Token token, std::string& bytes, bool writes_special) const {
    std::array<char, 256> piece; // NOLINT: llama_token_to_piece fills it
    const int32_t length = llama_token_to_piece(vocab(), token, piece.data(),
                                                static_cast<int32_t>(piece.size()), 0, writes_special);
    if (length >= 0) {
        bytes.append(piece.data(), static_cast<size_t>(length));
        return;
    }
    const size_t before = bytes.size();
    bytes.resize(before + static_cast<size_t>(-length));
    llama_token_to_piece(vocab(), token, bytes.data() + before, -length, 0, writes_special);
}

} // namespace llama
