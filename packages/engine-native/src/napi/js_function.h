// Lets any thread call a JavaScript function, which runs on the JS thread.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include <napi.h>

namespace napi {

/// A message that only wakes the JS thread.
struct Signal {};

/// Delivers each message once and in order. May outlive its environment, whose end closes it.
template <class Message>
class JsFunction {
public:
    /// Calls `function` on the JS thread. What it has captured lives until the last message is delivered.
    using Deliver = std::function<void(napi_env env, napi_value function, const Message& message)>;

    /// `name` is that of the argument `function`. At most `waiting_max` messages wait for the JS thread, and more are rejected; 0 for
    /// any number. `invalid_argument` if it is not a function; `engine_failed` if the environment is ending.
    static base::Result<JsFunction> create(Napi::Env env, const Napi::Value& function, const char* name,
                                           size_t waiting_max, Deliver deliver) {
        if (!function.IsFunction())
            return base::fail(base::Code::invalid_argument, std::string(name) + " is not a function.");
        JsFunction created(std::make_shared<Connection>(env, std::move(deliver)));
        auto held = std::make_unique<ConnectionPtr>(created.connection_);
        if (napi_create_threadsafe_function(env, function, nullptr, Napi::String::New(env, name), waiting_max,
                                            1, held.get(), on_end, created.connection_.get(), on_message,
                                            &created.connection_->function) != napi_ok)
            return base::fail(base::Code::engine_failed, std::string(name) + " could not be connected.");
        held.release(); // on_end() takes it
        return created;
    }

    ~JsFunction() {
        if (connection_ != nullptr) close();
    }
    JsFunction(JsFunction&&) noexcept = default;
    JsFunction& operator=(JsFunction&&) = delete;

    /// Any thread. Only queues the message. False if too many wait, or after close().
    bool send(Message message) {
        std::unique_ptr<Message> data;
        if constexpr (!std::is_empty_v<Message>) data = std::make_unique<Message>(std::move(message));
        std::lock_guard lock(connection_->mutex);
        if (connection_->function == nullptr) return false;
        const napi_status status =
            napi_call_threadsafe_function(connection_->function, data.get(), napi_tsfn_nonblocking);
        if (status == napi_closing) connection_->function = nullptr; // it counts as released
        if (status == napi_ok) data.release();                       // on_message() takes it
        return status == napi_ok;
    }

    /// JS thread. Whether the function keeps the process alive, as it does at first.
    void keep_alive(bool is_kept) {
        std::lock_guard lock(connection_->mutex);
        if (connection_->function == nullptr) return;
        if (is_kept) napi_ref_threadsafe_function(connection_->env, connection_->function);
        else napi_unref_threadsafe_function(connection_->env, connection_->function);
    }

    /// Any thread, idempotent. Messages that were sent before are still delivered.
    void close() {
        std::lock_guard lock(connection_->mutex);
        if (connection_->function != nullptr)
            napi_release_threadsafe_function(std::exchange(connection_->function, nullptr),
                                             napi_tsfn_release);
    }

private:
    struct Connection {
        Connection(napi_env env_, Deliver deliver_) : env(env_), deliver(std::move(deliver_)) {}

        const napi_env env;
        /// JS thread only.
        Deliver deliver;
        std::mutex mutex;
        /// Guarded by `mutex`. Null once it is closed.
        napi_threadsafe_function function = nullptr;
    };
    using ConnectionPtr = std::shared_ptr<Connection>;

    explicit JsFunction(ConnectionPtr connection) : connection_(std::move(connection)) {}

    static void on_message(napi_env env, napi_value function, void* connection, void* data) {
        const std::unique_ptr<Message> message(static_cast<Message*>(data));
        // Null while the environment is being torn down: then nobody listens.
        if (env == nullptr || function == nullptr) return;
        const Deliver& deliver = static_cast<Connection*>(connection)->deliver;
        if constexpr (std::is_empty_v<Message>) deliver(env, function, {});
        else deliver(env, function, *message);
    }

    static void on_end(napi_env, void* held, void*) {
        const std::unique_ptr<ConnectionPtr> connection(static_cast<ConnectionPtr*>(held));
        {
            std::lock_guard lock((*connection)->mutex);
            (*connection)->function = nullptr;
        }
        (*connection)->deliver = nullptr; // what it has captured may own this JsFunction
    }

    ConnectionPtr connection_;
};

} // namespace napi
