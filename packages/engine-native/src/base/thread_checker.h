// Asserts, in every build, that a class is used by the one thread that owns it.
#pragma once

#include "result.h"

#include <atomic>
#include <thread>

namespace base {

/// Belongs to the first thread that calls check() after construction or after release().
class ThreadChecker {
public:
    void check() {
        const std::thread::id self = std::this_thread::get_id();
        std::thread::id owner{};
        if (!owner_.compare_exchange_strong(owner, self)) INGLE_ASSERT(owner == self);
    }

    /// The next check() binds a new owner. The caller makes sure that the old one is done, for example by joining it.
    void release() { owner_.store(std::thread::id{}); }

private:
    std::atomic<std::thread::id> owner_{};
};

} // namespace base
