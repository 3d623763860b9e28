#include "short_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace test {

namespace {

std::atomic<size_t> bytes_max = std::numeric_limits<size_t>::max();
std::atomic<int64_t> failing = ShortMemory::kEvery;
std::atomic<int64_t> large = 0;
/// The thread of the test: it asks, and has all the memory that it wants.
thread_local bool is_spared = false;

void* allocate(size_t size) noexcept {
    if (size > bytes_max.load() && !is_spared) {
        const int64_t number = large.fetch_add(1) + 1;
        const int64_t nth = failing.load();
        if (nth == ShortMemory::kEvery || nth == number) return nullptr;
    }
    return std::malloc(std::max<size_t>(size, 1));
}

void* allocate_or_throw(size_t size) {
    void* memory = allocate(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

} // namespace

ShortMemory::ShortMemory(size_t most, int64_t nth) {
    is_spared = true;
    large = 0;
    failing = nth;
    bytes_max = most;
}

ShortMemory::~ShortMemory() {
    bytes_max = std::numeric_limits<size_t>::max();
    is_spared = false;
}

int64_t ShortMemory::asked() {
    return large.load();
}

} // namespace test

// All forms of them: a sanitizer's own would free what they have not allocated.
void* operator new(size_t size) {
    return test::allocate_or_throw(size);
}
void* operator new[](size_t size) {
    return test::allocate_or_throw(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    return test::allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
    return test::allocate(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
    std::free(memory);
}
