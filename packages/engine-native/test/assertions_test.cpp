// Misuse that must abort. POSIX only.
#include "aborts.h"
#include "base/threads.h"
#include "check.h"
#include "prompts.h"
#include "sched/scheduler.h"

#include <thread>

using sched::Outcome;
using test::aborts;

namespace {

constexpr sched::Limits kSmall{.cells = 16,
                               .context_length = 16,
                               .sequences = 2,
                               .cached_sequences = 1,
                               .batch_tokens = 8,
                               .checkpoints = 0,
                               .reserve_ahead = 2};

sched::Request request(base::RequestId id, int32_t prompt_tokens = 4, int32_t generate_max = 4) {
    return {.id = id,
            .client = "a",
            .prompt = test::own_prompt(id, prompt_tokens),
            .generate_max = generate_max,
            .uses_cache = true};
}

} // namespace

TEST_CASE("assertions: a correct action survives, so that the cases below mean something") {
    CHECK(!aborts([] {
        sched::Scheduler scheduler(kSmall);
        scheduler.submit(request(1));
        scheduler.schedule({.prefill_busy = 4});
        scheduler.update({.outcomes = {{.kind = Outcome::Kind::advanced}}});
        scheduler.check_integrity();
    }));
}

TEST_CASE("thread checker: aborts when another thread uses the class") {
    CHECK(aborts([] {
        base::ThreadChecker owner;
        owner.check();
        std::jthread([&] { owner.check(); }).join();
    }));
}

TEST_CASE("scheduler: refuses limits that cannot hold one request or one step") {
    const auto refuses = [](auto change) {
        return aborts([&] {
            sched::Limits limits = kSmall;
            change(limits);
            const sched::Scheduler scheduler(limits);
        });
    };
    CHECK(refuses([](sched::Limits& limits) { limits.cells = 15; }));
    CHECK(refuses([](sched::Limits& limits) { limits.batch_tokens = 1; }));
    CHECK(refuses([](sched::Limits& limits) { limits.cached_sequences = -1; }));
    CHECK(refuses([](sched::Limits& limits) { limits.reserve_ahead = 0; }));
    CHECK(refuses([](sched::Limits& limits) { limits.sequences = 0; }));
}

TEST_CASE("scheduler: refuses a request that does not fit, and an id that is in use") {
    const auto refuses = [](sched::Request second) {
        return aborts([&] {
            sched::Scheduler scheduler(kSmall);
            scheduler.submit(request(1));
            scheduler.submit(second);
        });
    };
    CHECK(!refuses(request(2, 12, 4)));
    CHECK(refuses(request(2, 13, 4)));
    CHECK(refuses(request(2, 0, 4)));
    CHECK(refuses(request(2, 4, 0)));
    CHECK(refuses(request(1)));
    const auto keeping = [](int32_t keep) {
        sched::Request endless = request(2, 12, 40);
        endless.turns.emplace(keep);
        return endless;
    };
    CHECK(!refuses(keeping(7)));
    CHECK(refuses(keeping(8)));
}

TEST_CASE("scheduler: refuses calls out of order") {
    const auto refuses = [](auto call) {
        return aborts([&] {
            sched::Scheduler scheduler(kSmall);
            scheduler.submit(request(1));
            scheduler.schedule({.prefill_busy = 4});
            call(scheduler);
        });
    };
    CHECK(refuses([](sched::Scheduler& scheduler) { scheduler.schedule({.prefill_busy = 4}); }));
    CHECK(refuses([](sched::Scheduler& scheduler) { scheduler.cancel(1); }));
    CHECK(refuses([](sched::Scheduler& scheduler) { scheduler.update({}); }));
    CHECK(refuses([](sched::Scheduler& scheduler) {
        scheduler.update({.outcomes = {{.kind = Outcome::Kind::finished}}});
        scheduler.update({.outcomes = {{.kind = Outcome::Kind::finished}}});
    }));
}

TEST_CASE("sequence: refuses moves that its state does not have") {
    const auto refuses = [](auto move) {
        return aborts([&] {
            sched::Sequence sequence(request(1), 0, kSmall.context_length);
            move(sequence);
        });
    };
    CHECK(refuses([](sched::Sequence& sequence) { sequence.advance(1); }));
    CHECK(refuses([](sched::Sequence& sequence) { sequence.preempt(); }));
    CHECK(refuses([](sched::Sequence& sequence) { sequence.reserve(8); }));
    CHECK(refuses([](sched::Sequence& sequence) { sequence.admit(0, 0, 3); }));
    CHECK(refuses([](sched::Sequence& sequence) {
        sequence.admit(0, 0, 4);
        sequence.admit(1, 0, 4);
    }));
    CHECK(refuses([](sched::Sequence& sequence) {
        sequence.admit(0, 0, 4);
        sequence.advance(5);
    }));
    CHECK(refuses([](sched::Sequence& sequence) {
        sequence.admit(0, 0, 4);
        sequence.advance(3);
        sequence.append(1);
    }));
    CHECK(refuses([](sched::Sequence& sequence) { static_cast<void>(sequence.next_cut()); }));
    CHECK(refuses([](sched::Sequence& sequence) { sequence.drop({.keep = 0, .drop = 4}); }));
    CHECK(refuses([](sched::Sequence& sequence) {
        sequence.end();
        sequence.end();
    }));
}
