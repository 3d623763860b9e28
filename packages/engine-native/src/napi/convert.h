// The only file that reads JS objects, and that writes them: the shapes of index.d.ts. @ingle/engine has checked them
// with zod; what is checked here again are the numbers that would break memory.
#pragma once

#include "base/result.h"
#include "engine/engine.h"
#include "llama/backend/backend.h"
#include "llama/backend/workers.h"
#include "llama/chat/conversation.h"
#include "llama/context/measure.h"
#include "llama/grammar/constraint.h"
#include "llama/model/model.h"
#include "llama/quantize/imatrix.h"
#include "llama/quantize/quantize.h"

#include <memory>
#include <string>
#include <vector>

#include <napi.h>

namespace binding {

base::Result<llama_rt::ModelOptions> to_model_options(Napi::Value value);
base::Result<llama_rt::WorkerConnection::Options> to_connect_options(Napi::Value value);
base::Result<llama_rt::WorkerOptions> to_worker_options(Napi::Value value);
/// What connectWorker() gave out.
base::Result<std::shared_ptr<llama_rt::WorkerConnection>> to_worker(Napi::Value value);
Napi::Value from_worker(Napi::Env env, std::shared_ptr<llama_rt::WorkerConnection> worker);
Napi::Value from_devices(Napi::Env env, const std::vector<llama_rt::Device>& devices);
base::Result<llama_rt::ContextOptions> to_context_options(Napi::Value value);
base::Result<llama_rt::QuantizeOptions> to_quantize_options(Napi::Value value);
base::Result<llama_rt::ImatrixOptions> to_imatrix_options(Napi::Value value);
base::Result<engine::EngineOptions> to_engine_options(Napi::Value value);
base::Result<engine::Submission> to_submission(Napi::Value value);

base::Result<llama_rt::Chat> to_chat(Napi::Value value);
base::Result<llama_rt::ImageText> to_image_text(Napi::Value value);
base::Result<std::string> to_text(Napi::Value value);
base::Result<std::vector<base::Token>> to_tokens(Napi::Value value);
base::Result<std::vector<std::vector<base::Token>>> to_texts(Napi::Value value);

/// What prepareGrammar() and prepareChat() gave out, or null.
base::Result<std::shared_ptr<const llama_rt::Constraint>> to_constraint(Napi::Value value);
Napi::Value from_constraint(Napi::Env env, std::shared_ptr<const llama_rt::Constraint> constraint);

/// The images of a prompt that prepareChat() gave out, or null.
base::Result<llama_rt::ImageParts> to_images(Napi::Value value);
Napi::Value from_images(Napi::Env env, llama_rt::ImageParts images);

base::Result<std::shared_ptr<const llama_rt::ReplyParser>> to_reply_parser(Napi::Value value);
Napi::Value from_reply_parser(Napi::Env env, std::shared_ptr<const llama_rt::ReplyParser> parser);
Napi::Value from_reply(Napi::Env env, const llama_rt::Reply& reply);

Napi::Value from_tokens(Napi::Env env, const std::vector<base::Token>& tokens);
Napi::Value from_pieces(Napi::Env env, const std::string& bytes, const std::vector<int32_t>& ends);
Napi::Value from_strings(Napi::Env env, const std::vector<std::string>& strings);
Napi::Value from_model_info(Napi::Env env, const llama_rt::ModelInfo& info);
Napi::Value from_backend_info(Napi::Env env, const llama_rt::BackendInfo& info);
Napi::Value from_measure(Napi::Env env, const llama_rt::ModelInfo& info,
                         const std::vector<llama_rt::MemoryUse>& uses);
Napi::Value from_imatrix(Napi::Env env, const llama_rt::ImatrixResult& result);
Napi::Value from_stats(Napi::Env env, const engine::Stats& stats);
/// Null when the environment is going away, as the next one.
napi_value from_blocks(napi_env env, const sched::KvReport& report);
napi_value from_event(napi_env env, const engine::Event& event);

} // namespace binding
