// A bounded queue from many threads to one: the engine's inbox. The reader takes all items at once, so that an engine step locks
// once however much has arrived.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

namespace base {

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

} // namespace base
