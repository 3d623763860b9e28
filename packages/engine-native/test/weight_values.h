// What tests of products with weights make and own.
#pragma once

#include "random.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

namespace test {

struct FreeGgml {
    void operator()(ggml_context* context) const { ggml_free(context); }
    void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
    void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeGgml>;

using Values = std::vector<float>;

/// From -1 to 1, in steps of 2^-20.
inline Values random_values(Random& random, int64_t count) {
    constexpr uint64_t kSteps = 1 << 20;
    Values values(static_cast<size_t>(count));
    for (float& value : values)
        value = static_cast<float>(random.below(2 * kSteps)) / static_cast<float>(kSteps) - 1;
    return values;
}

} // namespace test
