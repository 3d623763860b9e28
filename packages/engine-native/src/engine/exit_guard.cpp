#include "engine/exit_guard.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace engine {

namespace {

struct Guarded {
    std::mutex mutex;
    std::list<std::function<void()>> stops; // guarded by mutex
};

/// Never destroyed: it must outlive every static object.
Guarded& guarded() {
    static auto* instance = new Guarded();
    return *instance;
}

void stop_all() {
    std::lock_guard lock(guarded().mutex);
    for (const auto& stop : guarded().stops) stop();
}

} // namespace

ExitGuard::ExitGuard(std::function<void()> stop) {
    // exit() destroys static objects that were made before this registration only after the handler. Those are llama.cpp's and
    // ggml's own, because the first engine has its context by now.
    static std::once_flag once;
    std::call_once(once, [] { static_cast<void>(std::atexit(stop_all)); });
    std::lock_guard lock(guarded().mutex);
    place_ = guarded().stops.insert(guarded().stops.end(), std::move(stop));
}

ExitGuard::~ExitGuard() {
    std::lock_guard lock(guarded().mutex);
    guarded().stops.erase(place_);
}

} // namespace engine
