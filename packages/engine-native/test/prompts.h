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

/// A prompt that begins with `common` tokens of all such prompts and goes on with `own` tokens that tell its name.
inline std::vector<base::Token> prompt(int32_t common, int32_t own, base::Token name) {
    std::vector<base::Token> tokens = own_prompt(99, common);
    for (base::Token i = 0; i < own; ++i) tokens.push_back(10'000 * name + i);
    return tokens;
}

} // namespace test
