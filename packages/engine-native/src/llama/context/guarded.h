// Calls into llama.cpp for Context and Embedder that return errors as values, because no exception may reach the engine's thread.
// Only their source files include this; the engine's tests compile them with some calls replaced by failures.
#pragma once

#include "base/result.h"
#include "llama/backend/assertions.h"
#include "llama/backend/backend.h"
#include "llama/backend/workers.h"
#include "llama/context/context.h"
#include "llama/context/context_params.h"
#include "llama/model/model.h"

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "llama-cpp.h"

namespace llama {

/// Returns `otherwise` if the call throws.
template <class T>
T guarded(T otherwise, const auto& call) {
    try {
        return call();
    } catch (const std::exception& error) {
        check_device(error);
        return otherwise;
    }
}

// ---- creating ----

/// Computing this context's batches would end the process: its file is damaged.
class NotComputable : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws NotComputable, for at most `outputs` outputs of a batch.
inline void check_computable(llama_context* context, uint32_t outputs) {
    if (const auto reason = not_computable(context, outputs)) throw NotComputable(*reason);
}

/// Throws std::bad_alloc, or the reason as another exception.
inline llama_context_ptr new_context(const Model& model, const llama_context_params& params) {
    ErrorLines errors;
    llama_context_ptr context(llama_init_from_model(model.raw(), params));
    if (context != nullptr) return context;
    if (is_out_of_memory(errors.text())) throw std::bad_alloc();
    throw std::runtime_error(errors.text());
}

/// Lets the context compute with these threads, and end a batch soon after another thread sets `is_aborted`.
inline void attach(llama_context* context, ggml_threadpool* threadpool, const std::atomic<bool>& is_aborted) {
    llama_attach_threadpool(context, threadpool, nullptr);
    const auto read = [](void* data) { return static_cast<const std::atomic<bool>*>(data)->load(); };
    llama_set_abort_callback(context, read, const_cast<std::atomic<bool>*>(&is_aborted)); // it is only read
}

/// The object with a context that `create` returns, or the error for what that throws.
template <class T>
base::Result<std::unique_ptr<T>> guarded_create(const Model& model, const auto& create,
                                                const auto& out_of_memory) {
    const AssertionsThrow assertions_throw;
    try {
        std::unique_ptr<T> created = create();
        if (is_any_lost(model.workers())) return std::unexpected(worker_lost());
        return created;
    } catch (const std::exception& error) {
        if (is_any_lost(model.workers())) return std::unexpected(worker_lost());
        if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return std::unexpected(out_of_memory());
        if (dynamic_cast<const NotComputable*>(&error) != nullptr)
            return std::unexpected(file_error(model.path(), error.what()));
        return std::unexpected(context_failed(model, error.what()));
    }
}

// ---- computing ----

/// llama_decode(), returning only when workers are done too.
inline int32_t decode_batch(const Model& model, llama_context* context, const llama_batch& batch) {
    const int32_t code = llama_decode(context, batch);
    // Workers compute asynchronously: only their response shows that they are still there.
    if (code == 0 && !model.workers().empty()) llama_synchronize(context);
    return code;
}

/// What a return code of llama_decode() means. 1: no cell is free. -2: nearly always a failed allocation.
inline Decoded meaning_of(int32_t code) {
    switch (code) {
        case 0: return Decoded::ok;
        case 2: return Decoded::aborted;
        case 1:
        case -2: return Decoded::out_of_memory;
        default: return Decoded::failed;
    }
}

/// The outcome of `compute`, or of what it throws; `aborted` and `worker_lost` take precedence.
Decoded guarded_compute(const Model& model, const std::atomic<bool>& is_aborted, const auto& compute) {
    const auto outcome = [&] {
        try {
            return compute();
        } catch (const std::bad_alloc&) {
            return Decoded::out_of_memory;
        } catch (const std::exception& error) {
            check_device(error);
            return is_out_of_memory(error.what()) ? Decoded::out_of_memory : Decoded::failed;
        }
    };
    const Decoded decoded = outcome();
    const bool is_lost = is_any_lost(model.workers());
    if (is_aborted.load() && (is_lost || decoded != Decoded::ok)) return Decoded::aborted;
    return is_lost ? Decoded::worker_lost : decoded;
}

} // namespace llama
