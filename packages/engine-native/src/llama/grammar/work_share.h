// How much work a grammar may do at a time. Work is counted in rule calls ("steps", stack_set.cpp); the caller that samples
// provides a share of them, and decides what happens when it is used up.
#pragma once

#include <cstddef>

namespace llama_rt {

/// Thrown by used_up() to abandon a sampling that will be restarted, or whose result is no longer needed.
struct ShareUsedUp {};

class WorkShare {
public:
    virtual ~WorkShare() = default;

    /// Subtracts steps from the share.
    void use(size_t steps) {
        while (left < steps) {
            steps -= left;
            left = 0;
            used_up();
        }
        left -= steps;
    }

    /// Steps that are left.
    size_t left = 0;

protected:
    /// Adds steps to `left`, or throws ShareUsedUp.
    virtual void used_up() = 0;
};

} // namespace llama_rt
