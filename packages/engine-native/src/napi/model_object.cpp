#include "napi/model_object.h"

#include "llama/chat/conversation.h"
#include "napi/addon.h"
#include "napi/async_work.h"
#include "napi/cleanup_hook.h"
#include "napi/engine_object.h"
#include "napi/event_bridge.h"
#include "napi/event_pipe.h"
#include "napi/raw_calls.h"
#include "napi/read.h"
#include "napi/write.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace napi {

namespace {

using ModelPtr = std::shared_ptr<const llama::Model>;
using Tokens = std::vector<base::Token>;

/// Does not coerce, which would fail while a worker is being terminated.
bool is_true(const Napi::Value& value) {
    return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

bool option(const Napi::Value& options, const char* name) {
    return options.IsObject() && is_true(options.As<Napi::Object>().Get(name));
}

base::Result<void> check_in_vocabulary(const llama::Model& model, const Tokens& tokens) {
    const base::Token size = model.info().vocabulary_size;
    for (const base::Token token : tokens) {
        if (token >= 0 && token < size) continue;
        return base::fail(base::Code::invalid_argument,
                          "Token " + std::to_string(token) + " is outside this model's vocabulary.");
    }
    return {};
}

/// A function gets the events; otherwise they go through a pipe.
base::Result<std::shared_ptr<EventOutput>> output_to(Napi::Env env, const Napi::Value& value) {
    if (value.IsObject() && !value.IsFunction()) return EventPipe::create(env, value.As<Napi::Object>());
    return EventBridge::create(env, value);
}

struct TemplateResult {
    std::string prompt;
    std::vector<std::string> stops;
};

constexpr auto fields_of(const TemplateResult*) {
    return base::rows(base::field("prompt", &TemplateResult::prompt),
                      base::field("stops", &TemplateResult::stops));
}

/// A chat rendered with the model's template, and its tokens.
struct TokenizedChat {
    llama::PreparedChat prepared;
    llama::Vision::Prompt prompt;
};

constexpr auto fields_of(const TokenizedChat*) {
    return base::rows(base::inlined(&TokenizedChat::prepared), base::inlined(&TokenizedChat::prompt));
}

/// The bytes of tokens, and where each token ends.
struct Pieces {
    std::string bytes;
    std::vector<int32_t> ends;
};

constexpr auto fields_of(const Pieces*) {
    return base::rows(base::field("bytes", &Pieces::bytes, {.as = base::As::bytes}),
                      base::field("ends", &Pieces::ends));
}

base::Result<TokenizedChat> tokenize_chat(const llama::Model& model, llama::Chat chat,
                                          const std::atomic<bool>& is_aborted) {
    auto prepared = llama::prepare_chat(model, chat, is_aborted);
    if (!prepared) return std::unexpected(prepared.error());
    auto prompt = llama::tokenize_chat(model, *prepared, std::move(chat));
    if (!prompt) return std::unexpected(prompt.error());
    return TokenizedChat{.prepared = std::move(*prepared), .prompt = std::move(*prompt)};
}

base::Result<Pieces> pieces_of(const llama::Model& model, const Tokens& tokens) {
    if (auto checked = check_in_vocabulary(model, tokens); !checked) return std::unexpected(checked.error());
    Pieces pieces;
    pieces.ends.reserve(tokens.size());
    for (const base::Token token : tokens) {
        model.append_piece(token, pieces.bytes, true);
        pieces.ends.push_back(static_cast<int32_t>(pieces.bytes.size()));
    }
    return pieces;
}

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

Napi::Value ModelObject::wrap(Napi::Env env, std::shared_ptr<const llama::Model> model) {
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

std::shared_ptr<const llama::Model> ModelObject::usable(Napi::Env env) const {
    if (model_ == nullptr)
        throw_error(env, {.code = base::Code::disposed, .message = "The model was disposed."});
    return model_;
}

Napi::Value ModelObject::info(const Napi::CallbackInfo& info) {
    const ModelPtr model = usable(info.Env());
    return model == nullptr ? info.Env().Undefined() : to_js(info.Env(), model->info());
}

/// Calls `run(model, argument)`; throws in JavaScript if the model was disposed or the argument is wrong.
template <class T, class Run>
Napi::Value ModelObject::with_model(Napi::Env env, base::Result<T> argument, const Run& run) const {
    ModelPtr model = usable(env);
    if (model == nullptr) return env.Undefined();
    if (!argument) return thrown(env, argument.error());
    return run(std::move(model), std::move(*argument));
}

Napi::Value ModelObject::tokenize(const Napi::CallbackInfo& info) {
    const bool add_special = option(info[1], "addSpecial");
    const bool parse_special = option(info[1], "parseSpecial");
    return with_model(info.Env(), read<std::string>(info[0], "text"), [&](ModelPtr model, std::string text) {
        return run_async(
            info.Env(),
            [=, model = std::move(model), text = std::move(text)] {
                return model->tokenize(text, add_special, parse_special);
            },
            to_js);
    });
}

Napi::Value ModelObject::detokenize(const Napi::CallbackInfo& info) {
    const bool remove_special = option(info[1], "removeSpecial");
    const bool unparse_special = option(info[1], "unparseSpecial");
    return with_model(info.Env(), read<Tokens>(info[0], "tokens"), [&](ModelPtr model, Tokens tokens) {
        return run_async(
            info.Env(),
            [=, model = std::move(model), tokens = std::move(tokens)]() -> base::Result<std::string> {
                if (auto checked = check_in_vocabulary(*model, tokens); !checked)
                    return std::unexpected(checked.error());
                return model->detokenize(tokens, remove_special, unparse_special);
            },
            to_js);
    });
}

Napi::Value ModelObject::pieces(const Napi::CallbackInfo& info) {
    return with_model(info.Env(), read<Tokens>(info[0], "tokens"), [&](ModelPtr model, Tokens tokens) {
        return run_async(
            info.Env(),
            [model = std::move(model), tokens = std::move(tokens)] { return pieces_of(*model, tokens); },
            to_js);
    });
}

Napi::Value ModelObject::apply_chat_template(const Napi::CallbackInfo& info) {
    return with_model(info.Env(), read<llama::Chat>(info[0]), [&](ModelPtr model, llama::Chat chat) {
        const auto is_aborted = std::make_shared<std::atomic<bool>>(false);
        return run_async(
            info.Env(),
            [model = std::move(model), chat = std::move(chat), is_aborted,
             teardown = abort_on_teardown(info.Env(), is_aborted)] {
                return llama::prepare_chat(*model, chat, *is_aborted);
            },
            [](Napi::Env env, llama::PreparedChat prepared) {
                return to_js(env, TemplateResult{.prompt = llama::readable_text(prepared),
                                                 .stops = std::move(prepared.stops)});
            });
    });
}

Napi::Value ModelObject::prepare_chat(const Napi::CallbackInfo& info) {
    return with_model(info.Env(), read<llama::Chat>(info[0]), [&](ModelPtr model, llama::Chat chat) {
        const auto is_aborted = std::make_shared<std::atomic<bool>>(false);
        auto prepare = [model = std::move(model), chat = std::move(chat), is_aborted,
                        teardown = abort_on_teardown(info.Env(), is_aborted)]() mutable {
            return tokenize_chat(*model, std::move(chat), *is_aborted);
        };
        Napi::Object preparation = Napi::Object::New(info.Env());
        preparation.Set("prompt", run_async(info.Env(), std::move(prepare), to_js));
        preparation.Set("abort", abort_function(info.Env(), is_aborted));
        return preparation;
    });
}

Napi::Value ModelObject::prepare_images(const Napi::CallbackInfo& info) {
    return with_model(info.Env(), read<llama::ImageText>(info[0]),
                      [&](ModelPtr model, llama::ImageText text) {
                          return run_async(
                              info.Env(),
                              [model = std::move(model), text = std::move(text)] {
                                  return llama::tokenize_images(*model, text);
                              },
                              to_js);
                      });
}

Napi::Value ModelObject::prepare_grammar(const Napi::CallbackInfo& info) {
    return with_model(info.Env(), read<std::string>(info[0], "grammar"),
                      [&](ModelPtr model, std::string grammar) {
                          return run_async(
                              info.Env(),
                              [model = std::move(model), grammar = std::move(grammar)] {
                                  return grammar::Constraint::from_grammar(model->grammars(), grammar);
                              },
                              to_js);
                      });
}

Napi::Value ModelObject::parse_reply(const Napi::CallbackInfo& info) {
    auto parser = read<std::shared_ptr<const llama::ReplyParser>>(info[0], "parser");
    if (!parser) return thrown(info.Env(), parser.error());
    auto text = read<std::string>(info[1], "text");
    if (!text) return thrown(info.Env(), text.error());
    // A reply that cannot be parsed is null, not an error.
    using Parsed = std::optional<llama::Reply>;
    return run_async(
        info.Env(),
        [parser = std::move(*parser), text = std::move(*text),
         is_partial = is_true(info[2])]() -> base::Result<Parsed> {
            base::Result<llama::Reply> reply = parser->parse(text, is_partial);
            return reply ? Parsed(std::move(*reply)) : std::nullopt;
        },
        to_js);
}

Napi::Value ModelObject::create_engine(const Napi::CallbackInfo& info) {
    ModelPtr model = usable(info.Env());
    if (model == nullptr) return info.Env().Undefined();
    auto options = read<engine::EngineOptions>(info[0]);
    if (!options) return thrown(info.Env(), options.error());
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
    base::Result<std::shared_ptr<EventOutput>> output = output_to(info.Env(), info[1]);
    if (!output) return thrown(info.Env(), output.error());
    auto listener = [output = *output](std::vector<engine::Event>&& events, const engine::Stats& stats) {
        output->post(std::move(events), stats);
    };
    return run_async(
        info.Env(),
        [model = std::move(model), options = std::move(*options), listener = std::move(listener)]() mutable {
            return engine::Engine::start(std::move(model), options, std::move(listener));
        },
        [output = *output](Napi::Env env, std::unique_ptr<engine::Engine> engine) -> Napi::Value {
            EngineObject::Parts parts{.engine = std::move(engine), .output = output};
            const auto* data = env.GetInstanceData<AddonData>();
            return data->engine_class.New({Napi::External<EngineObject::Parts>::New(env, &parts)});
        },
        [output = *output](bool has_succeeded) {
            if (!has_succeeded) output->close();
        });
}

void ModelObject::dispose(const Napi::CallbackInfo&) {
    model_.reset();
}

} // namespace napi
