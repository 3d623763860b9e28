// Prompts for the scheduler's tests.
#pragma once

#include "base/types.h"

#include <cstdint>
#include <vector>

namespace test {

/// A prompt that no other request's begins like: its tokens tell the request.
inline std::vector<base::Token> own_prompt(base::RequestId id, int32_t length) {
    std::vector<base::Token> tokens;
    for (int32_t i = 0; i < length; ++i) tokens.push_back(static_cast<base::Token>(id) * 1000 + i);
    return tokens;
}

} // namespace test
