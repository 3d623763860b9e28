// Stops what runs on other threads before the process destroys its static objects. process.exit() does not run the environment's
// cleanup hooks: without this, such a thread would keep using objects that are being destroyed, or keep the process alive.
#pragma once

#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

namespace base {

/// While a guard lives, `stop` is called once if the process exits, before any static object is destroyed that was created before
/// the first guard of this `Owner`.
template <class Owner>
class ExitGuard {
public:
    explicit ExitGuard(std::function<void()> stop) {
        std::lock_guard lock(all().mutex);
        place_ = all().stops.insert(all().stops.end(), std::move(stop));
    }
    ~ExitGuard() {
        std::lock_guard lock(all().mutex);
        all().stops.erase(place_);
    }
    ExitGuard(const ExitGuard&) = delete;
    ExitGuard& operator=(const ExitGuard&) = delete;

private:
    using Stops = std::list<std::function<void()>>;
    struct All {
        std::mutex mutex;
        Stops stops; // guarded by mutex
    };

    /// Never destroyed: it must outlive every static object.
    static All& all() {
        static All* const instance = [] {
            static_cast<void>(std::atexit(stop_all));
            return new All();
        }();
        return *instance;
    }

    static void stop_all() {
        std::lock_guard lock(all().mutex);
        for (const auto& stop : all().stops) stop();
    }

    Stops::iterator place_;
};

} // namespace base
