// Memory that runs short as a test wants it to: ingle_engine_tests is linked with an operator new of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace test {

/// While one lives, large allocations of all threads but this one fail with std::bad_alloc: the n-th of them, or every one.
class ShortMemory {
public:
    static constexpr int64_t kEvery = 0;

    /// Large is what has more than `bytes_max`.
    explicit ShortMemory(size_t bytes_max, int64_t nth = kEvery);
    ~ShortMemory();
    ShortMemory(const ShortMemory&) = delete;
    ShortMemory& operator=(const ShortMemory&) = delete;

    /// Large ones that other threads have asked for by now.
    static int64_t asked();
};

} // namespace test
