// A fair lock for two threads that both compute for long: whichever has waited gets it next, however soon the other wants it
// again. The engine's steps and the pieces of an image's encoding alternate on the cores with it, so that neither slows the
// other's threads in the middle of a computation.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace engine {

class RoundRobinLock {
public:
    void lock() {
        std::unique_lock lock(mutex_);
        const uint64_t mine = next_++;
        changed_.wait(lock, [&] { return served_ == mine; });
    }

    void unlock() {
        {
            std::lock_guard lock(mutex_);
            served_ += 1;
        }
        changed_.notify_all();
    }

private:
    // Guarded by mutex_: the next ticket to hand out, and the ticket that holds the lock.
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ = 0;
    uint64_t served_ = 0;
};

} // namespace engine
