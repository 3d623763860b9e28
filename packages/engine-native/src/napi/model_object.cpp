#include "napi/model_object.h"

#include "napi/addon_data.h"
#include "napi/check.h"
#include "napi/cleanup_hook.h"
#include "napi/convert.h"
#include "napi/engine_object.h"
#include "napi/event_bridge.h"
#include "napi/promise_worker.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace binding {

namespace {

using ModelPtr = std::shared_ptr<const llama_rt::Model>;

Napi::Value thrown(Napi::Env env, const base::Error& error) {
    throw_error(env, error);
    return env.Undefined();
}

/// Not by coercion, which fails while a worker is being terminated.
bool is_true(const Napi::Value& value) {
    return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

bool option(const Napi::Value& options, const char* name) {
    return options.IsObject() && is_true(options.As<Napi::Object>().Get(name));
}

class TokenizeWorker final : public PromiseWorker {
public:
    TokenizeWorker(ModelPtr model, std::string text, bool add_special, bool parse_special)
        : model_(std::move(model)),
          text_(std::move(text)),
          add_special_(add_special),
          parse_special_(parse_special) {}

private:
    base::Result<void> execute() override {
        base::Result<std::vector<base::Token>> tokens = model_->tokenize(text_, add_special_, parse_special_);
        if (!tokens) return std::unexpected(tokens.error());
        tokens_ = std::move(*tokens);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_tokens(env, tokens_); }

    ModelPtr model_;
    std::string text_;
    bool add_special_;
    bool parse_special_;
    std::vector<base::Token> tokens_;
};

base::Result<void> check_in_vocabulary(const llama_rt::Model& model, const std::vector<base::Token>& tokens) {
    const base::Token size = model.info().vocabulary_size;
    for (const base::Token token : tokens) {
        if (token >= 0 && token < size) continue;
        return base::fail(base::Code::invalid_argument,
                          "Token " + std::to_string(token) + " is outside this model's vocabulary.");
    }
    return {};
}

class DetokenizeWorker final : public PromiseWorker {
public:
    DetokenizeWorker(ModelPtr model, std::vector<base::Token> tokens, bool remove_special,
                     bool unparse_special)
        : model_(std::move(model)),
          tokens_(std::move(tokens)),
          remove_special_(remove_special),
          unparse_special_(unparse_special) {}

private:
    base::Result<void> execute() override {
        if (base::Result<void> checked = check_in_vocabulary(*model_, tokens_); !checked) return checked;
        text_ = model_->detokenize(tokens_, remove_special_, unparse_special_);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return Napi::String::New(env, text_); }

    ModelPtr model_;
    std::vector<base::Token> tokens_;
    bool remove_special_;
    bool unparse_special_;
    std::string text_;
};

class PiecesWorker final : public PromiseWorker {
public:
    PiecesWorker(ModelPtr model, std::vector<base::Token> tokens)
        : model_(std::move(model)), tokens_(std::move(tokens)) {}

private:
    base::Result<void> execute() override {
        if (base::Result<void> checked = check_in_vocabulary(*model_, tokens_); !checked) return checked;
        ends_.reserve(tokens_.size());
        for (const base::Token token : tokens_) {
            model_->append_piece(token, bytes_, true);
            ends_.push_back(static_cast<int32_t>(bytes_.size()));
        }
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_pieces(env, bytes_, ends_); }

    ModelPtr model_;
    std::vector<base::Token> tokens_;
    std::string bytes_;
    std::vector<int32_t> ends_;
};

/// Shared by a worker, its abort function and the environment's teardown.
using AbortFlag = std::shared_ptr<std::atomic<bool>>;

/// Writes a conversation out; with `tokenize`, its tokens too.
class ChatWorker final : public PromiseWorker {
public:
    ChatWorker(napi_env env, ModelPtr model, llama_rt::Chat chat, bool is_tokenized, AbortFlag is_aborted)
        : model_(std::move(model)),
          chat_(std::move(chat)),
          is_tokenized_(is_tokenized),
          is_aborted_(std::move(is_aborted)),
          teardown_(env, on_teardown, is_aborted_.get()) {}

private:
    /// Node waits for running work before it ends; a template must not hold it up.
    static void on_teardown(void* data) { static_cast<std::atomic<bool>*>(data)->store(true); }

    base::Result<void> execute() override {
        base::Result<llama_rt::PreparedChat> prepared = llama_rt::prepare_chat(*model_, chat_, *is_aborted_);
        if (!prepared) return std::unexpected(prepared.error());
        prepared_ = std::move(*prepared);
        if (!is_tokenized_) return {};
        base::Result<llama_rt::Vision::Prompt> prompt =
            llama_rt::tokenize_chat(*model_, prepared_, std::move(chat_));
        if (!prompt) return std::unexpected(prompt.error());
        prompt_ = std::move(*prompt);
        return {};
    }

    Napi::Value result(Napi::Env env) override {
        Napi::Object object = Napi::Object::New(env);
        object.Set("stops", from_strings(env, prepared_.stops));
        if (!is_tokenized_) {
            object.Set("prompt", llama_rt::readable_text(prepared_));
            return object;
        }
        object.Set("tokens", from_tokens(env, prompt_.tokens));
        object.Set("images", from_images(env, std::move(prompt_.images)));
        object.Set("constraint", from_constraint(env, std::move(prepared_.constraint)));
        object.Set("parser", from_reply_parser(env, std::move(prepared_.parser)));
        return object;
    }

    ModelPtr model_;
    llama_rt::Chat chat_;
    bool is_tokenized_;
    AbortFlag is_aborted_;
    /// After the flag, so that it goes first.
    CleanupHook teardown_;
    llama_rt::PreparedChat prepared_;
    llama_rt::Vision::Prompt prompt_;
};

/// The tokens of a text with pictures.
class ImagesWorker final : public PromiseWorker {
public:
    ImagesWorker(ModelPtr model, llama_rt::ImageText text)
        : model_(std::move(model)), text_(std::move(text)) {}

private:
    base::Result<void> execute() override {
        base::Result<llama_rt::Vision::Prompt> prompt = llama_rt::tokenize_images(*model_, text_);
        if (!prompt) return std::unexpected(prompt.error());
        prompt_ = std::move(*prompt);
        return {};
    }

    Napi::Value result(Napi::Env env) override {
        Napi::Object object = Napi::Object::New(env);
        object.Set("tokens", from_tokens(env, prompt_.tokens));
        object.Set("images", from_images(env, std::move(prompt_.images)));
        return object;
    }

    ModelPtr model_;
    llama_rt::ImageText text_;
    llama_rt::Vision::Prompt prompt_;
};

class ParseWorker final : public PromiseWorker {
public:
    ParseWorker(std::shared_ptr<const llama_rt::ReplyParser> parser, std::string text, bool is_partial)
        : parser_(std::move(parser)), text_(std::move(text)), is_partial_(is_partial) {}

private:
    base::Result<void> execute() override {
        base::Result<llama_rt::Reply> reply = parser_->parse(text_, is_partial_);
        if (reply) reply_ = std::move(*reply);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return reply_ ? from_reply(env, *reply_) : env.Null(); }

    std::shared_ptr<const llama_rt::ReplyParser> parser_;
    std::string text_;
    bool is_partial_;
    std::optional<llama_rt::Reply> reply_;
};

class GrammarWorker final : public PromiseWorker {
public:
    GrammarWorker(ModelPtr model, std::string grammar)
        : model_(std::move(model)), grammar_(std::move(grammar)) {}

private:
    base::Result<void> execute() override {
        base::Result<std::shared_ptr<const llama_rt::Constraint>> constraint =
            llama_rt::Constraint::from_grammar(model_->grammars(), grammar_);
        if (!constraint) return std::unexpected(constraint.error());
        constraint_ = std::move(*constraint);
        return {};
    }

    Napi::Value result(Napi::Env env) override { return from_constraint(env, constraint_); }

    ModelPtr model_;
    std::string grammar_;
    std::shared_ptr<const llama_rt::Constraint> constraint_;
};

class StartWorker final : public PromiseWorker {
public:
    StartWorker(ModelPtr model, engine::EngineOptions options, std::shared_ptr<EventBridge> bridge)
        : model_(std::move(model)), options_(std::move(options)), bridge_(std::move(bridge)) {}

private:
    base::Result<void> execute() override {
        auto listener = [bridge = bridge_](std::vector<engine::Event>&& events) {
            bridge->post(std::move(events));
        };
        base::Result<std::unique_ptr<engine::Engine>> engine =
            engine::Engine::start(std::move(model_), options_, std::move(listener));
        if (!engine) return std::unexpected(engine.error());
        parts_.engine = std::move(*engine);
        parts_.bridge = bridge_;
        return {};
    }

    void settled() override {
        if (parts_.engine == nullptr) bridge_->close();
    }

    Napi::Value result(Napi::Env env) override {
        const auto* data = env.GetInstanceData<AddonData>();
        return data->engine_class.New({Napi::External<EngineObject::Parts>::New(env, &parts_)});
    }

    ModelPtr model_;
    engine::EngineOptions options_;
    std::shared_ptr<EventBridge> bridge_;
    EngineObject::Parts parts_;
};

} // namespace

Napi::Function ModelObject::define(Napi::Env env) {
    return DefineClass(env, "NativeModel",
                       {InstanceAccessor<&ModelObject::info>("info"),
                        InstanceMethod<&ModelObject::tokenize>("tokenize"),
                        InstanceMethod<&ModelObject::detokenize>("detokenize"),
                        InstanceMethod<&ModelObject::pieces>("pieces"),
                        InstanceMethod<&ModelObject::apply_chat_template>("applyChatTemplate"),
                        InstanceMethod<&ModelObject::prepare_chat>("prepareChat"),
                        InstanceMethod<&ModelObject::prepare_images>("prepareImages"),
                        InstanceMethod<&ModelObject::prepare_grammar>("prepareGrammar"),
                        InstanceMethod<&ModelObject::parse_reply>("parseReply"),
                        InstanceMethod<&ModelObject::create_engine>("createEngine"),
                        InstanceMethod<&ModelObject::dispose>("dispose")});
}

Napi::Value ModelObject::wrap(Napi::Env env, std::shared_ptr<const llama_rt::Model> model) {
    const auto* data = env.GetInstanceData<AddonData>();
    return data->model_class.New({Napi::External<ModelPtr>::New(env, &model)});
}

ModelObject::ModelObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ModelObject>(info) {
    if (!info[0].IsExternal()) {
        throw_error(info.Env(),
                    {.code = base::Code::invalid_argument, .message = "Models are made by loadModel()."});
        return;
    }
    model_ = *info[0].As<Napi::External<ModelPtr>>().Data();
}

std::shared_ptr<const llama_rt::Model> ModelObject::usable(Napi::Env env) const {
    if (model_ == nullptr)
        throw_error(env, {.code = base::Code::disposed, .message = "The model was disposed."});
    return model_;
}

Napi::Value ModelObject::info(const Napi::CallbackInfo& info) {
    const ModelPtr model = usable(info.Env());
    return model == nullptr ? info.Env().Undefined() : from_model_info(info.Env(), model->info());
}

Napi::Value ModelObject::tokenize(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<std::string> text = to_text(info[0]);
    if (!text) return thrown(info.Env(), text.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<TokenizeWorker>(std::move(model), std::move(*text),
                                                                 option(info[1], "addSpecial"),
                                                                 option(info[1], "parseSpecial")));
}

Napi::Value ModelObject::detokenize(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<std::vector<base::Token>> tokens = to_tokens(info[0]);
    if (!tokens) return thrown(info.Env(), tokens.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<DetokenizeWorker>(std::move(model), std::move(*tokens),
                                                                   option(info[1], "removeSpecial"),
                                                                   option(info[1], "unparseSpecial")));
}

Napi::Value ModelObject::pieces(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<std::vector<base::Token>> tokens = to_tokens(info[0]);
    if (!tokens) return thrown(info.Env(), tokens.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<PiecesWorker>(std::move(model), std::move(*tokens)));
}

Napi::Value ModelObject::apply_chat_template(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<llama_rt::Chat> chat = to_chat(info[0]);
    if (!chat) return thrown(info.Env(), chat.error());
    return PromiseWorker::start(
        info.Env(), std::make_unique<ChatWorker>(info.Env(), std::move(model), std::move(*chat), false,
                                                 std::make_shared<std::atomic<bool>>(false)));
}

Napi::Value ModelObject::prepare_chat(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<llama_rt::Chat> chat = to_chat(info[0]);
    if (!chat) return thrown(info.Env(), chat.error());
    const auto is_aborted = std::make_shared<std::atomic<bool>>(false);
    Napi::Object preparation = Napi::Object::New(info.Env());
    preparation.Set("prompt", PromiseWorker::start(info.Env(), std::make_unique<ChatWorker>(
                                                                   info.Env(), std::move(model),
                                                                   std::move(*chat), true, is_aborted)));
    preparation.Set("abort", Napi::Function::New(info.Env(), [is_aborted](const Napi::CallbackInfo&) {
                        is_aborted->store(true);
                    }));
    return preparation;
}

Napi::Value ModelObject::prepare_images(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<llama_rt::ImageText> text = to_image_text(info[0]);
    if (!text) return thrown(info.Env(), text.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<ImagesWorker>(std::move(model), std::move(*text)));
}

Napi::Value ModelObject::prepare_grammar(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<std::string> grammar = to_text(info[0]);
    if (!grammar) return thrown(info.Env(), grammar.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<GrammarWorker>(std::move(model), std::move(*grammar)));
}

Napi::Value ModelObject::parse_reply(const Napi::CallbackInfo& info) {
    base::Result<std::shared_ptr<const llama_rt::ReplyParser>> parser = to_reply_parser(info[0]);
    if (!parser) return thrown(info.Env(), parser.error());
    base::Result<std::string> text = to_text(info[1]);
    if (!text) return thrown(info.Env(), text.error());
    return PromiseWorker::start(
        info.Env(), std::make_unique<ParseWorker>(std::move(*parser), std::move(*text), is_true(info[2])));
}

Napi::Value ModelObject::create_engine(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<engine::EngineOptions> options = to_engine_options(info[0]);
    if (!options) return thrown(info.Env(), options.error());
    if (!info[1].IsFunction()) {
        return thrown(info.Env(),
                      {.code = base::Code::invalid_argument, .message = "onEvents is not a function."});
    }
    if (info[2].IsObject()) {
        const auto* data = info.Env().GetInstanceData<AddonData>();
        const auto draft = info[2].As<Napi::Object>();
        if (!draft.InstanceOf(data->model_class.Value())) {
            return thrown(info.Env(), {.code = base::Code::invalid_argument,
                                       .message = "The draft model is not a loaded model."});
        }
        options->draft_model = Unwrap(draft)->usable(info.Env());
        if (options->draft_model == nullptr) return info.Env().Undefined();
    }
    base::Result<std::shared_ptr<EventBridge>> bridge =
        EventBridge::create(info.Env(), info[1].As<Napi::Function>());
    if (!bridge) return thrown(info.Env(), bridge.error());
    return PromiseWorker::start(
        info.Env(), std::make_unique<StartWorker>(std::move(model), std::move(*options), std::move(*bridge)));
}

void ModelObject::dispose(const Napi::CallbackInfo&) {
    model_.reset();
}

} // namespace binding
