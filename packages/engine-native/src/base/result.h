// Errors are values: a mistake of the caller or a failure of the environment is a Result, which napi/ turns into a JavaScript
// error with a code. A bug of ours is an INGLE_ASSERT.
#pragma once

#include "base/fields.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace base {

enum class Code {
    invalid_argument,
    model_not_found,
    model_invalid,
    model_unsupported,
    out_of_memory,
    aborted,
    template_failed,
    context_length_exceeded,
    overloaded,
    generation_not_supported,
    image_not_supported,
    audio_not_supported,
    audio_invalid,
    projector_mismatch,
    embeddings_not_supported,
    engine_failed,
    worker_lost,
    disposed,
};

/// The code as JavaScript sees it in `error.code`; seam/process.d.ts has the same list.
constexpr const char* code_name(Code code) {
    switch (code) {
        case Code::invalid_argument: return "invalid_argument";
        case Code::model_not_found: return "model_not_found";
        case Code::model_invalid: return "model_invalid";
        case Code::model_unsupported: return "model_unsupported";
        case Code::out_of_memory: return "out_of_memory";
        case Code::aborted: return "aborted";
        case Code::template_failed: return "template_failed";
        case Code::context_length_exceeded: return "context_length_exceeded";
        case Code::overloaded: return "overloaded";
        case Code::image_not_supported: return "image_not_supported";
        case Code::audio_not_supported: return "audio_not_supported";
        case Code::audio_invalid: return "audio_invalid";
        case Code::projector_mismatch: return "projector_mismatch";
        case Code::generation_not_supported: return "generation_not_supported";
        case Code::embeddings_not_supported: return "embeddings_not_supported";
        case Code::engine_failed: return "engine_failed";
        case Code::worker_lost: return "worker_lost";
        case Code::disposed: return "disposed";
    }
    return "engine_failed";
}

/// Bytes in one memory.
struct MemoryBytes {
    /// Empty for host memory.
    std::string device;
    uint64_t bytes;
};

constexpr auto fields_of(const MemoryBytes*) {
    return base::rows(field("device", &MemoryBytes::device), field("bytes", &MemoryBytes::bytes));
}

struct Error {
    Code code = Code::engine_failed;
    /// A sentence for people that says what is wrong and what to do.
    std::string message;
    /// The numbers behind `context_length_exceeded`.
    struct Lengths {
        int64_t prompt_tokens;
        int64_t context_length;
    };
    std::optional<Lengths> lengths = std::nullopt;
    /// The name of the invalid option, if the error is about one; the message begins with it.
    std::string param = {};
    /// What `out_of_memory` needed, if other models could make space for it.
    std::vector<MemoryBytes> needed_memory = {};
};

constexpr auto fields_of(const Error::Lengths*) {
    return base::rows(field("promptTokens", &Error::Lengths::prompt_tokens),
                      field("contextLength", &Error::Lengths::context_length));
}

constexpr auto fields_of(const Error*) {
    return base::rows(field("code", &Error::code), field("message", &Error::message),
                      field("neededMemory", &Error::needed_memory, {.is_left_out_if_empty = true}));
}

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message) {
    return std::unexpected(Error{.code = code, .message = std::move(message)});
}

/// `invalid_argument` for an option of the call, which the message names before `reason`.
inline std::unexpected<Error> wrong_option(const std::string& param, const std::string& reason) {
    return std::unexpected(
        Error{.code = Code::invalid_argument, .message = param + ": " + reason, .param = param});
}

} // namespace base

/// Checked in every build: an engine that continued after a broken invariant would mix up its users' texts.
#define INGLE_ASSERT(condition)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition);           \
            std::abort();                                                                                    \
        }                                                                                                    \
    } while (false)
