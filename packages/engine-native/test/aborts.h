// Whether an action ends its process, for the tests of what must: it runs in a forked child. POSIX only.
#pragma once

#include "check.h"

#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace test {

/// True if the action ends its process by abort().
template <class Action>
bool aborts(Action action) {
    constexpr int kSurvived = 7;
    const pid_t child = fork();
    if (child == 0) {
        // The child's message is expected: hide it, and skip the handler of main.cpp.
        std::signal(SIGABRT, SIG_DFL);
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        action();
        _exit(kSurvived);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

} // namespace test
