// For a llama.cpp without our patches (LLAMA_CPP_DIR): its template engine has no bounds to set. Included before all else by
// CMake where the sources have none (cmake/llama.cmake), so that the code that sets them is the same in both cases.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jinja {

struct work_allowance {
    int milliseconds = 0;
    uint64_t units = 0;
    size_t bytes = 0;
    const std::atomic<bool>* is_cancelled = nullptr;
};

/// Bounds nothing: templates of model files that strangers made may hang the process. The README says so.
struct work_limit {
    explicit work_limit(const work_allowance& /*allowance*/) {}
    ~work_limit() {} // NOLINT: not trivial, so that one that only stands there is no unused variable
    work_limit(const work_limit&) = delete;
    work_limit& operator=(const work_limit&) = delete;
    const char* ended() const { return nullptr; }
};

} // namespace jinja
