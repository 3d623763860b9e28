// The only file that reads JS objects, and that writes them: the shapes of index.d.ts. @ingle/engine has checked them
// with zod; what is checked here again are the numbers that would break memory.
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "llama/backend.h"
#include "llama/model.h"

#include <vector>

#include <napi.h>

namespace binding {

base::Result<llama_rt::ModelOptions> to_model_options(Napi::Value value);
base::Result<engine::EngineOptions> to_engine_options(Napi::Value value);
base::Result<engine::Submission> to_submission(Napi::Value value);

struct Chat {
    std::vector<llama_rt::ChatMessage> messages;
    bool add_generation_prompt;
};
base::Result<Chat> to_chat(Napi::Value value);
base::Result<std::vector<base::Token>> to_tokens(Napi::Value value);

Napi::Value from_tokens(Napi::Env env, const std::vector<base::Token>& tokens);
Napi::Value from_strings(Napi::Env env, const std::vector<std::string>& strings);
Napi::Value from_model_info(Napi::Env env, const llama_rt::ModelInfo& info);
Napi::Value from_backend_info(Napi::Env env, const llama_rt::BackendInfo& info);
Napi::Value from_stats(Napi::Env env, const engine::Stats& stats);
/// Null when the environment is going away.
napi_value from_event(napi_env env, const engine::Event& event);

} // namespace binding
