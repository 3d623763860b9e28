#include "napi/quantize.h"

#include "llama/quantize/imatrix.h"
#include "llama/quantize/quantize.h"
#include "napi/check.h"
#include "napi/convert.h"
#include "napi/promise_worker.h"
#include "napi/reporter.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace binding {

namespace {

struct Chunks {
    int32_t done;
    int32_t total;
};

bool write_name(napi_env env, const std::string& name, napi_value* arguments) {
    return napi_create_string_utf8(env, name.data(), name.size(), arguments) == napi_ok;
}

bool write_chunks(napi_env env, const Chunks& chunks, napi_value* arguments) {
    return napi_create_int32(env, chunks.done, &arguments[0]) == napi_ok &&
           napi_create_int32(env, chunks.total, &arguments[1]) == napi_ok;
}

class PlanWorker final : public PromiseWorker {
public:
    explicit PlanWorker(llama_rt::QuantizeOptions options) : options_(std::move(options)) {}

private:
    base::Result<void> execute() override {
        const base::Result<double> bytes = llama_rt::plan_quantization(options_);
        if (!bytes) return std::unexpected(bytes.error());
        bytes_ = *bytes;
        return {};
    }

    Napi::Value result(Napi::Env env) override { return Napi::Number::New(env, bytes_); }

    llama_rt::QuantizeOptions options_;
    double bytes_ = 0;
};

class QuantizeWorker final : public PromiseWorker {
public:
    explicit QuantizeWorker(llama_rt::QuantizeOptions options) : options_(std::move(options)) {}

    bool report_to(Napi::Env env, Napi::Function on_tensor) { return report_.open(env, on_tensor); }

private:
    base::Result<void> execute() override {
        return llama_rt::quantize(options_, [&](const std::string& name) { report_.send(name); });
    }

    void settled() override { report_.close(); }

    Napi::Value result(Napi::Env env) override { return env.Undefined(); }

    llama_rt::QuantizeOptions options_;
    Reporter<std::string, 1, write_name> report_;
};

class ImatrixWorker final : public PromiseWorker {
public:
    explicit ImatrixWorker(llama_rt::ImatrixOptions options) : options_(std::move(options)) {}

    bool report_to(Napi::Env env, Napi::Function on_chunk) { return report_.open(env, on_chunk); }

private:
    base::Result<void> execute() override {
        const auto result = llama_rt::compute_imatrix(
            options_, [&](int32_t done, int32_t total) { report_.send({.done = done, .total = total}); });
        if (!result) return std::unexpected(result.error());
        result_ = *result;
        return {};
    }

    void settled() override { report_.close(); }

    Napi::Value result(Napi::Env env) override { return from_imatrix(env, result_); }

    llama_rt::ImatrixOptions options_;
    llama_rt::ImatrixResult result_{};
    Reporter<Chunks, 2, write_chunks> report_;
};

/// Starts a worker that reports to the call's second argument.
template <class Worker, class Options>
Napi::Value start(const Napi::CallbackInfo& info, base::Result<Options> options) {
    const Napi::Env env = info.Env();
    if (!options || !info[1].IsFunction()) {
        throw_error(env, options ? base::Error{.code = base::Code::invalid_argument,
                                               .message = "The second argument is not a function."}
                                 : options.error());
        return env.Undefined();
    }
    auto worker = std::make_unique<Worker>(std::move(*options));
    if (!worker->report_to(env, info[1].As<Napi::Function>())) {
        throw_error(env, {.code = base::Code::engine_failed, .message = "The work could not be started."});
        return env.Undefined();
    }
    return PromiseWorker::start(env, std::move(worker));
}

} // namespace

Napi::Value plan_quantization(const Napi::CallbackInfo& info) {
    base::Result<llama_rt::QuantizeOptions> options = to_quantize_options(info[0]);
    if (!options) {
        throw_error(info.Env(), options.error());
        return info.Env().Undefined();
    }
    return PromiseWorker::start(info.Env(), std::make_unique<PlanWorker>(std::move(*options)));
}

Napi::Value quantize_model(const Napi::CallbackInfo& info) {
    return start<QuantizeWorker>(info, to_quantize_options(info[0]));
}

Napi::Value compute_imatrix(const Napi::CallbackInfo& info) {
    return start<ImatrixWorker>(info, to_imatrix_options(info[0]));
}

} // namespace binding
