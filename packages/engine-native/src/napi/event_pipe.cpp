#include "napi/event_pipe.h"

#include "napi/raw_calls.h"
#include "napi/serialize.h"
#include "napi/write.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#ifndef _WIN32
#include <sys/socket.h>
#endif

namespace napi {

namespace {

struct StepReport {
    std::vector<engine::Event> events;
    /// The counters after the step, if it ended a request.
    std::optional<engine::Stats> stats;
};

constexpr auto fields_of(const StepReport*) {
    return base::rows(base::field("events", &StepReport::events), base::field("stats", &StepReport::stats));
}

/// The report, preceded by its length in four bytes, lowest first.
std::string frame_of(const StepReport& report) {
    std::string frame(sizeof(uint32_t), '\0');
    Serializer(frame).write(report);
    const auto length = static_cast<uint32_t>(frame.size() - sizeof(uint32_t));
    for (size_t i = 0; i < sizeof(length); ++i) frame[i] = static_cast<char>(length >> (8 * i));
    return frame;
}

/// Returns how many bytes the socket took without blocking; 0 after an error, which a later write reports.
size_t send_now([[maybe_unused]] int socket, [[maybe_unused]] const std::string& bytes) {
#ifdef _WIN32
    return 0; // Node.js uses a pipe there, and does not expose its handle
#else
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return static_cast<size_t>(std::max<ssize_t>(sent, 0));
#endif
}

} // namespace

base::Result<std::shared_ptr<EventPipe>> EventPipe::create(Napi::Env env, const Napi::Object& pipe) {
    const Napi::Value socket = pipe.Get("fd");
    if (!socket.IsNumber()) return base::fail(base::Code::invalid_argument, "fd is not a number.");
    std::shared_ptr<EventPipe> created(new EventPipe());
    created->socket_ = socket.As<Napi::Number>().Int32Value();
    const auto write_backlog = [created](napi_env to, napi_value write, Signal) {
        created->write_backlog(to, write);
    };
    auto wake = JsFunction<Signal>::create(env, pipe.Get("write"), "write", 1, write_backlog);
    if (!wake) return std::unexpected(wake.error());
    created->wake_.emplace(std::move(*wake));
    created->wake_->keep_alive(false);
    return created;
}

void EventPipe::post(std::vector<engine::Event>&& events, const engine::Stats& stats) {
    const bool ends_any = std::ranges::any_of(events, engine::ends_request);
    const std::string frame =
        frame_of({.events = std::move(events), .stats = ends_any ? std::optional(stats) : std::nullopt});
    std::lock_guard lock(mutex_);
    const size_t sent = is_behind_ ? 0 : send_now(socket_, frame);
    if (sent == frame.size()) return;
    backlog_.append(frame, sent);
    if (!std::exchange(is_behind_, true)) wake_->send({});
}

/// Writes only the present backlog, so that JavaScript can do other work before the next part.
void EventPipe::write_backlog(napi_env env, napi_value write) {
    std::string bytes;
    {
        std::lock_guard lock(mutex_);
        bytes.swap(backlog_);
    }
    call_function(env, write, {Writer(env).write(bytes, {.as = base::As::bytes})});
    std::lock_guard lock(mutex_);
    if (backlog_.empty()) is_behind_ = false;
    else wake_->send({});
}

} // namespace napi
