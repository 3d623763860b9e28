// How much of a grammar's work may be done at a time. Following a grammar is counted in steps (stack_set.h); whoever samples
// hands in a share of them, and decides what happens when it is used up. Used by Stacks and by those who sample.
#pragma once

#include <cstddef>

namespace llama_rt {

/// What used_up() throws to leave a sampling that is to be begun anew, or that nobody waits for any more.
struct ShareUsedUp {};

class WorkShare {
public:
    virtual ~WorkShare() = default;

    /// Takes steps off the share.
    void use(size_t steps) {
        while (left < steps) {
            steps -= left;
            left = 0;
            used_up();
        }
        left -= steps;
    }

    /// Steps that may be done.
    size_t left = 0;

protected:
    /// Returns with more in `left`, or throws ShareUsedUp.
    virtual void used_up() = 0;
};

} // namespace llama_rt
