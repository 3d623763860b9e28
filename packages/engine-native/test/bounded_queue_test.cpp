// base::BoundedQueue: order, the bound, waiting and stopping, many writers.
#include "base/bounded_queue.h"

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using base::BoundedQueue;

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

TEST_CASE("queue: does not wait when an item is there already, not even when it is to stop") {
    BoundedQueue<int> queue(8);
    CHECK(queue.push(1));
    std::stop_source stop;
    CHECK(queue.wait(stop.get_token()));
    stop.request_stop();
    CHECK(queue.wait(stop.get_token()));
}

TEST_CASE("queue: does not wait when it was told to stop before") {
    BoundedQueue<int> queue(8);
    std::stop_source stop;
    stop.request_stop();
    CHECK(!queue.wait(stop.get_token()));
}

TEST_CASE("queue: a waiting reader wakes up when an item arrives") {
    BoundedQueue<int> queue(8);
    std::atomic<bool> has_item = false;
    {
        std::jthread reader([&](const std::stop_token& stop) { has_item = queue.wait(stop); });
        CHECK(queue.push(1));
        while (!has_item) std::this_thread::yield();
    }
    CHECK(has_item);
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
    BoundedQueue<int> queue(64);
    std::vector<int> next(kWriters, 0);
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < kWriters; ++writer) {
            writers.emplace_back([&queue, writer](const std::stop_token& stop) {
                for (int item = 0; item < kItems && !stop.stop_requested(); ++item) {
                    while (!queue.push(writer * kItems + item) && !stop.stop_requested())
                        std::this_thread::yield();
                }
            });
        }
        const std::stop_source never;
        std::vector<int> items;
        for (int taken = 0; taken < kWriters * kItems; taken += static_cast<int>(items.size())) {
            REQUIRE(queue.wait(never.get_token()));
            queue.drain(items);
            REQUIRE(items.size() <= 64);
            for (const int item : items) {
                REQUIRE(item % kItems == next[static_cast<size_t>(item / kItems)]);
                next[static_cast<size_t>(item / kItems)] += 1;
            }
        }
    }
    CHECK(next == std::vector<int>(kWriters, kItems));
}
