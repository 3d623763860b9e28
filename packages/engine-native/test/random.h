// Random numbers that are the same on every machine, for the random tests. A test prints the seed it fails
// with; INGLE_TEST_SEED=<seed> runs that seed alone.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace test {

/// mt19937_64's sequence is fixed by the standard; the standard's distributions are not, hence below().
class Random {
public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    /// 0 … end - 1.
    uint64_t below(uint64_t end) { return engine_() % end; }

    /// min … max, both included.
    int32_t between(int32_t min, int32_t max) {
        return min + static_cast<int32_t>(below(static_cast<uint64_t>(max - min) + 1));
    }

    bool chance(int32_t percent) { return between(1, 100) <= percent; }

    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 engine_;
};

/// The seeds a random test runs: 1 … count, or the one of INGLE_TEST_SEED.
inline std::vector<uint64_t> seeds(uint64_t count) {
    if (const char* own = std::getenv("INGLE_TEST_SEED")) return {std::stoull(own)};
    std::vector<uint64_t> seeds;
    for (uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
    return seeds;
}

/// While it lives, an abort prints the seed: a failed assertion in the code under test ends the process before
/// any check can tell. One at a time.
class SeedOnAbort {
public:
    explicit SeedOnAbort(uint64_t seed) : previous_(std::signal(SIGABRT, print)) { seed_ = seed; }
    SeedOnAbort(const SeedOnAbort&) = delete;
    SeedOnAbort& operator=(const SeedOnAbort&) = delete;
    ~SeedOnAbort() { std::signal(SIGABRT, previous_); }

private:
    /// The process ends when this returns: abort() sees to it.
    static void print(int) { std::fprintf(stderr, "aborted with INGLE_TEST_SEED=%llu\n", seed_); }

    static inline unsigned long long seed_ = 0;
    void (*previous_)(int);
};

} // namespace test
