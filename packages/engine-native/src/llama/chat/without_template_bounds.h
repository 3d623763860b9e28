// For a llama.cpp without our patches (LLAMA_CPP_DIR), whose template engine has no limits. CMake includes this first in the
// files that set them (cmake/llama.cmake), so that their code is the same in both cases.
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

/// Limits nothing: a template in an untrusted model file may hang the process.
struct work_limit {
    explicit work_limit(const work_allowance& /*allowance*/) {}
    ~work_limit() {} // NOLINT: not trivial, so that compilers do not report unused variables
    work_limit(const work_limit&) = delete;
    work_limit& operator=(const work_limit&) = delete;
    const char* ended() const { return nullptr; }
};

} // namespace jinja
