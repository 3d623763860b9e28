// Messages from a worker thread to a JavaScript function, each delivered once and in order. Used by work that tells how far
// it is; load.cpp, whose news comes by the thousand, has its own.
#pragma once

#include "napi/check.h"

#include <memory>
#include <utility>

#include <napi.h>

namespace binding {

/// `write` makes the `count` arguments of a call; false when the environment is going away.
template <class Message, size_t count, bool (*write)(napi_env, const Message&, napi_value*)>
class Reporter {
public:
    Reporter() = default;
    ~Reporter() { close(); }
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    /// On the JS thread. False when the function cannot be made.
    bool open(Napi::Env env, Napi::Function to) {
        return napi_create_threadsafe_function(env, to, nullptr, Napi::String::New(env, "ingle report"), 0, 1,
                                               nullptr, nullptr, nullptr, on_message, &function_) == napi_ok;
    }

    /// Any thread, between open() and close().
    void send(Message message) {
        auto data = std::make_unique<Message>(std::move(message));
        if (napi_call_threadsafe_function(function_, data.get(), napi_tsfn_nonblocking) == napi_ok)
            data.release();
    }

    /// On the JS thread, when the work is done. Idempotent.
    void close() {
        if (function_ == nullptr) return;
        napi_release_threadsafe_function(std::exchange(function_, nullptr), napi_tsfn_release);
    }

private:
    static void on_message(napi_env env, napi_value function, void*, void* data) {
        const std::unique_ptr<Message> message(static_cast<Message*>(data));
        napi_value arguments[count] = {};
        if (env == nullptr || function == nullptr || !write(env, *message, arguments)) return;
        call_function(env, function, count, arguments);
    }

    napi_threadsafe_function function_ = nullptr;
};

} // namespace binding
