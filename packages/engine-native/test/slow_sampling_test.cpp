// engine::SlowSampling: work that pauses in its middle and goes on later.
#include "engine/slow_sampling.h"

#include "check.h"

#include <stdexcept>

using engine::SlowSampling;
using grammar::WorkShare;

TEST_CASE("slow sampling: goes on where it stopped, and never does more than its share") {
    int done = 0;
    SlowSampling sampling([&](WorkShare& share) {
        for (int i = 0; i < 100; ++i) {
            share.use(1);
            done += 1;
        }
        return base::Token{7};
    });
    int shares = 0;
    for (size_t steps = 9; !sampling.resume(steps); steps = 9) {
        shares += 1;
        REQUIRE_EQ(steps, 0);
        REQUIRE_EQ(done, 9 * shares);
    }
    CHECK_EQ(shares, 11);
    CHECK_EQ(done, 100);
    CHECK_EQ(sampling.token(), 7);
    size_t rest = 9;
    CHECK(sampling.resume(rest));
    CHECK_EQ(rest, 9);
}

TEST_CASE("slow sampling: rethrows what the work throws, and abandons work that nobody waits for") {
    SlowSampling failing([](WorkShare&) -> base::Token { throw std::runtime_error("too complex"); });
    size_t steps = 5;
    REQUIRE(failing.resume(steps));
    CHECK_EQ(steps, 5);
    bool has_thrown = false;
    try {
        failing.token();
    } catch (const std::runtime_error&) {
        has_thrown = true;
    }
    CHECK(has_thrown);
    int rounds = 0;
    const auto endless = [&](WorkShare& share) -> base::Token {
        for (;; ++rounds) share.use(1);
    };
    {
        SlowSampling never_begun(endless);
        SlowSampling begun(endless);
        size_t few = 3;
        CHECK(!begun.resume(few));
    }
    CHECK_EQ(rounds, 3);
}
