// What llama.cpp asserts about a file, it asserts by ending the process. Used wherever a file from a stranger decides what is
// asserted: by Model and by those that make a context.
#pragma once

namespace llama_rt {

/**
 * While one lives, a failed GGML_ASSERT on this thread throws std::runtime_error with its text instead of ending the process.
 * Not for what computes: other threads would wait for ever for this one, so what a file decides of that is asked before
 * (computable.h). What the function had in hand and did not own by an object is lost, which for a damaged file is the
 * smaller evil.
 */
class AssertionsThrow {
public:
    AssertionsThrow();
    ~AssertionsThrow();
    AssertionsThrow(const AssertionsThrow&) = delete;
    AssertionsThrow& operator=(const AssertionsThrow&) = delete;

private:
    bool outer_;
};

} // namespace llama_rt
