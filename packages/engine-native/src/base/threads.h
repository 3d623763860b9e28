// Tools for threads: a queue between them, a fair lock, and a check that only one thread uses a class.
#pragma once

#include "base/result.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace base {

/// A queue from many threads to one: the engine's inbox. The reader takes all items at once, so that an engine step locks once
/// however many have arrived.
template <class T>
class BoundedQueue {
public:
    explicit BoundedQueue(size_t items_max) : items_max_(items_max) {}

    /// False if the queue is full; the item is then dropped. Any thread.
    [[nodiscard]] bool push(T item) {
        {
            std::lock_guard lock(mutex_);
            if (items_.size() >= items_max_) return false;
            items_.push_back(std::move(item));
        }
        arrived_.notify_one();
        return true;
    }

    /// Replaces `items` by everything that has arrived. The reader's thread.
    void drain(std::vector<T>& items) {
        items.clear();
        std::lock_guard lock(mutex_);
        items_.swap(items);
    }

    /// Blocks until an item has arrived; false if `stop` was requested first. The reader's thread.
    bool wait(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        return arrived_.wait(lock, stop, [this] { return !items_.empty(); });
    }

private:
    // Constant after construction.
    const size_t items_max_;

    // Guarded by mutex_.
    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::vector<T> items_;
};

/// A fair lock for two threads that both compute for long: whichever has waited gets it next, however soon the other wants it
/// again. The engine's steps and the pieces of an image's encoding alternate on the cores with it, so that neither slows the
/// other's threads in the middle of a computation.
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
    // Guarded by mutex_: the next ticket to hand out, and the ticket holding the lock.
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ = 0;
    uint64_t served_ = 0;
};

/// Asserts, in every build, that a class is used by the one thread that owns it: the first that calls check() after construction or
/// after release().
class ThreadChecker {
public:
    void check() {
        const std::thread::id self = std::this_thread::get_id();
        std::thread::id owner{};
        if (!owner_.compare_exchange_strong(owner, self)) INGLE_ASSERT(owner == self);
    }

    /// The next check() binds a new owner. The caller must ensure that the old one is done, for example by joining it.
    void release() { owner_.store(std::thread::id{}); }

private:
    std::atomic<std::thread::id> owner_{};
};

} // namespace base
