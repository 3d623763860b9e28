// Random numbers that are the same on every machine, for the random tests. A test prints the seed it fails
// with; INGLE_TEST_SEED=<seed> runs that seed alone.
#pragma once

#include <cstdint>
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

} // namespace test
