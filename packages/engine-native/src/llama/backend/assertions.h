// llama.cpp ends the process when an assertion fails. A damaged or hostile model file must not do that: AssertionsThrow turns
// such assertions into exceptions while a model is loaded or a context is created.
#pragma once

namespace llama_rt {

/**
 * While one lives, a failed GGML_ASSERT on this thread throws std::runtime_error with its text instead of ending the process.
 * Do not compute a graph under it: the other compute threads would wait for this one for ever. computable.h checks graphs
 * before they are computed. Memory that the failing function owned through raw pointers leaks, which we accept for a damaged
 * file.
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
