#include "napi/model_object.h"

#include "napi/addon_data.h"
#include "napi/check.h"
#include "napi/convert.h"
#include "napi/engine_object.h"
#include "napi/event_bridge.h"
#include "napi/promise_worker.h"

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

bool option(const Napi::Value& options, const char* name) {
    return options.IsObject() && options.As<Napi::Object>().Get(name).ToBoolean().Value();
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
        const base::Token size = model_->info().vocabulary_size;
        for (const base::Token token : tokens_) {
            if (token >= 0 && token < size) continue;
            return base::fail(base::Code::invalid_argument,
                              "Token " + std::to_string(token) + " is outside this model's vocabulary.");
        }
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

/// Writes a conversation out; with `tokenize`, its tokens too.
class ChatWorker final : public PromiseWorker {
public:
    ChatWorker(ModelPtr model, Chat chat, bool tokenize)
        : model_(std::move(model)), chat_(std::move(chat)), is_tokenized_(tokenize) {}

private:
    base::Result<void> execute() override {
        base::Result<llama_rt::ChatPrompt> prompt =
            model_->apply_chat_template(chat_.messages, chat_.add_generation_prompt);
        if (!prompt) return std::unexpected(prompt.error());
        prompt_ = std::move(*prompt);
        if (!is_tokenized_) return {};
        base::Result<std::vector<base::Token>> tokens = model_->tokenize_chat(prompt_);
        if (!tokens) return std::unexpected(tokens.error());
        tokens_ = std::move(*tokens);
        return {};
    }

    Napi::Value result(Napi::Env env) override {
        Napi::Object object = Napi::Object::New(env);
        if (is_tokenized_) object.Set("tokens", from_tokens(env, tokens_));
        else object.Set("prompt", prompt_.text);
        object.Set("stops", from_strings(env, prompt_.stops));
        return object;
    }

    ModelPtr model_;
    Chat chat_;
    bool is_tokenized_;
    llama_rt::ChatPrompt prompt_;
    std::vector<base::Token> tokens_;
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
                        InstanceMethod<&ModelObject::apply_chat_template>("applyChatTemplate"),
                        InstanceMethod<&ModelObject::prepare_chat>("prepareChat"),
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
    return PromiseWorker::start(
        info.Env(),
        std::make_unique<TokenizeWorker>(std::move(model), info[0].ToString().Utf8Value(),
                                         option(info[1], "addSpecial"), option(info[1], "parseSpecial")));
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

Napi::Value ModelObject::apply_chat_template(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<Chat> chat = to_chat(info[0]);
    if (!chat) return thrown(info.Env(), chat.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<ChatWorker>(std::move(model), std::move(*chat), false));
}

Napi::Value ModelObject::prepare_chat(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    base::Result<Chat> chat = to_chat(info[0]);
    if (!chat) return thrown(info.Env(), chat.error());
    return PromiseWorker::start(info.Env(),
                                std::make_unique<ChatWorker>(std::move(model), std::move(*chat), true));
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
