// base::ThreadChecker: which calls pass. Those that abort are in assertions_test.cpp.
#include "base/threads.h"
#include "check.h"

#include <thread>

using base::ThreadChecker;

TEST_CASE("thread checker: its owner may check any number of times") {
    ThreadChecker owner;
    owner.check();
    owner.check();
    CHECK(true);
}

TEST_CASE("thread checker: belongs to the thread that checks first, not to the one that made it") {
    ThreadChecker owner;
    std::jthread([&] { owner.check(); }).join();
    CHECK(true);
}

TEST_CASE("thread checker: binds a new owner after a release") {
    ThreadChecker owner;
    owner.check();
    owner.release();
    std::jthread([&] {
        owner.check();
        owner.check();
    }).join();
    CHECK(true);
}
