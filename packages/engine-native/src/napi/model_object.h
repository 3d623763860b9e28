// NativeModel of seam/model.d.ts: a loaded model, whose calls run on libuv threads.
#pragma once

#include "llama/model/model.h"

#include <memory>

#include <napi.h>

namespace napi {

class ModelObject : public Napi::ObjectWrap<ModelObject> {
public:
    static Napi::Function define(Napi::Env env);

    /// A NativeModel around a loaded model.
    static Napi::Value wrap(Napi::Env env, std::shared_ptr<const llama::Model> model);

    /// Called with an External of the model, by wrap() only.
    explicit ModelObject(const Napi::CallbackInfo& info);

private:
    Napi::Value info(const Napi::CallbackInfo& info);
    Napi::Value tokenize(const Napi::CallbackInfo& info);
    Napi::Value detokenize(const Napi::CallbackInfo& info);
    Napi::Value pieces(const Napi::CallbackInfo& info);
    Napi::Value apply_chat_template(const Napi::CallbackInfo& info);
    Napi::Value prepare_chat(const Napi::CallbackInfo& info);
    Napi::Value prepare_images(const Napi::CallbackInfo& info);
    Napi::Value prepare_grammar(const Napi::CallbackInfo& info);
    Napi::Value parse_reply(const Napi::CallbackInfo& info);
    Napi::Value create_engine(const Napi::CallbackInfo& info);
    void dispose(const Napi::CallbackInfo& info);

    /// The model; null after dispose(), with a JavaScript error thrown.
    std::shared_ptr<const llama::Model> usable(Napi::Env env) const;

    template <class T, class Run>
    Napi::Value with_model(Napi::Env env, base::Result<T> argument, const Run& run) const;

    std::shared_ptr<const llama::Model> model_;
};

} // namespace napi
