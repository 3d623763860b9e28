// base::BoundedQueue: order, the bound, waiting and stopping, many writers.
#include "base/threads.h"
#include "check.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

using base::BoundedQueue;

namespace {

/// Waits for another thread, but not forever.
bool becomes_true(const std::atomic<bool>& flag) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!flag && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return flag;
}

} // namespace

TEST_CASE("queue: hands over everything that arrived, in order, and is empty afterwards") {
    BoundedQueue<int> queue(8);
    CHECK(queue.push(1));
    CHECK(queue.push(2));
    CHECK(queue.push(3));
    std::vector<int> items;
    queue.drain(items);
    CHECK(items == std::vector<int>{1, 2, 3});
    queue.drain(items);
    CHECK(items.empty());
}

TEST_CASE("queue: clears what the reader left in its vector") {
    BoundedQueue<int> queue(8);
    CHECK(queue.push(1));
    std::vector<int> items{7, 8, 9};
    queue.drain(items);
    CHECK(items == std::vector<int>{1});
    queue.drain(items);
    CHECK(items.empty());
}

TEST_CASE("queue: refuses an item when it is full, and takes one again after it was drained") {
    BoundedQueue<int> queue(2);
    CHECK(queue.push(1));
    CHECK(queue.push(2));
    CHECK(!queue.push(3));
    std::vector<int> items;
    queue.drain(items);
    CHECK(items == std::vector<int>{1, 2});
    CHECK(queue.push(4));
    queue.drain(items);
    CHECK(items == std::vector<int>{4});
}

TEST_CASE("queue: carries items that can only be moved") {
    BoundedQueue<std::unique_ptr<int>> queue(1);
    CHECK(queue.push(std::make_unique<int>(5)));
    std::vector<std::unique_ptr<int>> items;
    queue.drain(items);
    REQUIRE(items.size() == 1);
    CHECK_EQ(*items[0], 5);
}

TEST_CASE("queue: does not wait if an item has arrived, even if it is to stop") {
    BoundedQueue<int> queue(8);
    CHECK(queue.push(1));
    std::stop_source stop;
    CHECK(queue.wait(stop.get_token()));
    stop.request_stop();
    CHECK(queue.wait(stop.get_token()));
}

TEST_CASE("queue: does not wait if it was told to stop before") {
    BoundedQueue<int> queue(8);
    std::stop_source stop;
    stop.request_stop();
    CHECK(!queue.wait(stop.get_token()));
}

TEST_CASE("queue: a waiting reader wakes up when an item arrives") {
    BoundedQueue<int> queue(8);
    std::atomic<bool> has_item = false;
    std::jthread reader([&](const std::stop_token& stop) { has_item = queue.wait(stop); });
    CHECK(queue.push(1));
    CHECK(becomes_true(has_item));
}

TEST_CASE("queue: a waiting reader wakes up when it is to stop") {
    BoundedQueue<int> queue(8);
    std::atomic<bool> has_item = true;
    std::jthread reader([&](const std::stop_token& stop) { has_item = queue.wait(stop); });
    reader.request_stop();
    reader.join();
    CHECK(!has_item);
}

TEST_CASE("queue: loses and repeats nothing of many writers, and keeps each one's order") {
    constexpr int kWriters = 4;
    constexpr int kItems = 5000;
    constexpr size_t kItemsMax = 64;
    BoundedQueue<int> queue(kItemsMax);
    // The next item expected from each writer.
    std::vector<int> next(kWriters, 0);
    bool are_in_order = true;
    bool is_bounded = true;
    std::atomic<bool> is_done = false;
    std::jthread reader([&](const std::stop_token& stop) {
        std::vector<int> items;
        for (size_t taken = 0; taken < size_t{kWriters} * kItems; taken += items.size()) {
            if (!queue.wait(stop)) return;
            queue.drain(items);
            is_bounded &= items.size() <= kItemsMax;
            for (const int item : items)
                are_in_order &= next[static_cast<size_t>(item / kItems)]++ == item % kItems;
        }
        is_done = true;
    });
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&queue, writer](const std::stop_token& stop) {
            for (int item = 0; item < kItems; ++item) {
                while (!queue.push(writer * kItems + item)) {
                    if (stop.stop_requested()) return;
                    std::this_thread::yield();
                }
            }
        });
    }
    CHECK(becomes_true(is_done));
    writers.clear();
    reader.request_stop();
    reader.join();
    CHECK(is_bounded);
    CHECK(are_in_order);
    CHECK(next == std::vector<int>(kWriters, kItems));
}
