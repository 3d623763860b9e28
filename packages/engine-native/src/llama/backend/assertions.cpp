#include "llama/backend/assertions.h"

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "ggml.h"

namespace llama_rt {

namespace {

thread_local bool assertions_throw = false;

/// "/path/to/src/llama-model.cpp:1260: GGML_ASSERT(…) failed" without the folders of the machine that built it.
std::string without_path(std::string_view message) {
    const size_t colon = message.find(": ");
    const size_t slash = message.substr(0, colon).find_last_of("/\\");
    return std::string(slash == std::string_view::npos ? message : message.substr(slash + 1));
}

void on_abort(const char* message) {
    if (assertions_throw) throw std::runtime_error(without_path(message));
    std::fprintf(stderr, "%s\n", message); // ggml then ends the process, as it should
}

} // namespace

AssertionsThrow::AssertionsThrow() : outer_(std::exchange(assertions_throw, true)) {
    static std::once_flag once;
    std::call_once(once, [] { ggml_set_abort_callback(on_abort); });
}

AssertionsThrow::~AssertionsThrow() {
    assertions_throw = outer_;
}

} // namespace llama_rt
