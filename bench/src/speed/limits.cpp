// Measures the machine's limits for `bench speed`: how many bytes its threads read from memory per second, and how many products of
// bytes they add up. The argument is the number of threads; prints JSON.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#else
#error "The limit of arithmetic is known for processors with AVX2 or with ARM's dot products."
#endif

namespace {

#if defined(__AVX512VNNI__)
using ints = __m512i;
ints all(int value) { return _mm512_set1_epi32(value); }
ints add_products(ints sum, ints a) { return _mm512_dpbusd_epi32(sum, a, a); }
#elif defined(__AVXVNNI__)
using ints = __m256i;
ints all(int value) { return _mm256_set1_epi32(value); }
ints add_products(ints sum, ints a) { return _mm256_dpbusd_avx_epi32(sum, a, a); }
#elif defined(__AVX2__)
using ints = __m256i;
ints all(int value) { return _mm256_set1_epi32(value); }
// The multiplication alone, although sums take further instructions.
ints add_products(ints sum, ints a) { return _mm256_maddubs_epi16(sum, a); }
#else
using ints = int8x16_t;
ints all(int value) { return vreinterpretq_s8_s32(vdupq_n_s32(value)); }
ints add_products(ints sum, ints a) { return vreinterpretq_s8_s32(vdotq_s32(vreinterpretq_s32_s8(sum), a, a)); }
#endif

constexpr double seconds_each = 0.4;
// Larger than caches.
constexpr size_t memory_bytes = size_t(512) << 20;
// So many that none waits for the one before it.
constexpr int sums_at_once = 12;

volatile uint64_t results_are_used;

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What all threads do together in a second; `work` does some of a thread's and returns how much.
double rate(int threads, const std::function<double(int thread)> & work) {
    std::vector<double> rates(threads);
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            work(thread);
            const double start = seconds();
            double done = 0, taken = 0;
            while (taken < seconds_each) {
                done += work(thread);
                taken = seconds() - start;
            }
            rates[thread] = done/taken;
        });
    }
    double sum = 0;
    for (int thread = 0; thread < threads; ++thread) {
        running[thread].join();
        sum += rates[thread];
    }
    return sum;
}

double read(const std::vector<uint64_t> & memory, int part, int parts) {
    uint64_t sum = 0;
    const size_t start = memory.size()*part/parts, end = memory.size()*(part + 1)/parts;
    for (size_t i = start; i < end; ++i) {
        sum += memory[i];
    }
    results_are_used = sum;
    return double(end - start)*sizeof(uint64_t);
}

double multiply() {
    constexpr int repeats = 100000;
    const ints factor = all(int(results_are_used) | 0x01010101);
    ints sums[sums_at_once];
    for (int i = 0; i < sums_at_once; ++i) {
        sums[i] = all(i);
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
#pragma GCC unroll 12
        for (int i = 0; i < sums_at_once; ++i) {
            sums[i] = add_products(sums[i], factor);
        }
    }
    uint64_t sum = 0;
    for (const ints & one : sums) {
        sum += *(const unsigned char *) &one;
    }
    results_are_used = sum;
    return double(repeats)*sums_at_once*sizeof(ints);
}

} // namespace

int main(int count, char ** arguments) {
    const int threads = count == 2 ? atoi(arguments[1]) : 0;
    if (threads < 1) {
        fprintf(stderr, "usage: limits THREADS\n");
        return 1;
    }
    const std::vector<uint64_t> memory(memory_bytes/sizeof(uint64_t), 1);
    const double bytes    = rate(threads, [&](int thread) { return read(memory, thread, threads); });
    const double products = rate(threads, [](int) { return multiply(); });
    printf("{\"bytesPerSecond\": %.0f, \"productsPerSecond\": %.0f}\n", bytes, products);
}
