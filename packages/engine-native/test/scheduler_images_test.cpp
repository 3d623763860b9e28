// sched::Scheduler: prompts with images, by examples.
#include "check.h"
#include "scheduler_harness.h"

#include <string>
#include <vector>

using base::Token;
using sched::Limits;
using sched::Outcome;
using test::kWithCache;
using test::SchedulerHarness;
using test::with;

namespace {

class Prompt {
public:
    Prompt text(int32_t count, Token name = 0) && {
        for (Token i = 0; i < count; ++i) tokens.push_back(10'000 * name + i);
        return std::move(*this);
    }
    Prompt image(base::ImageId image, int32_t count) && {
        for (int32_t i = 0; i < count; ++i) tokens.push_back(base::image_token(image, i == 0));
        return std::move(*this);
    }

    std::vector<Token> tokens;
};

} // namespace

TEST_CASE("images: an entry is text or one image") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", Prompt().text(5).image(1, 9).image(1, 9).image(2, 4).text(3).tokens, 2);
    CHECK_EQ(harness.step(), "1: 0+5");
    CHECK_EQ(harness.step(), "1: 5+9");
    CHECK_EQ(harness.step(), "1: 14+9");
    CHECK_EQ(harness.step(), "1: 23+4");
    CHECK_EQ(harness.step(), "1: 27+3*");
    CHECK_EQ(harness.step(), "1: 30+1*");
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("images: beside a decoding sequence an image is computed in parts, after the texts of the step") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", 3, 20);
    CHECK_EQ(harness.step(), "1: 0+3*");
    harness.submit("b", Prompt().image(1, 9).text(3).tokens, 2);
    harness.submit("c", Prompt().text(2, 3).tokens, 2);
    CHECK_EQ(harness.step(), "1: 3+1*, 2: 0+4");
    CHECK_EQ(harness.step(), "1: 4+1*, 2: 4+4");
    CHECK_EQ(harness.step(), "1: 5+1*, 3: 0+2*, 2: 8+1");
}

TEST_CASE("images: one whose tokens attend to each other is computed whole, beyond the budget if it is the "
          "first prefill") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.has_whole_images = true; }));
    harness.submit("a", 3, 20);
    CHECK_EQ(harness.step(), "1: 0+3*");
    harness.submit("b", Prompt().text(6, 2).image(1, 9).text(3).tokens, 2);
    harness.submit("c", Prompt().image(2, 20).text(1, 3).tokens, 2);
    CHECK_EQ(harness.step(), "1: 3+1*, 2: 0+4");
    CHECK_EQ(harness.step(), "1: 4+1*, 2: 4+2");
    CHECK_EQ(harness.step(), "1: 5+1*, 2: 6+9");
    CHECK_EQ(harness.step(), "1: 6+1*, 2: 15+3*");
    CHECK_EQ(harness.step(), "1: 7+1*, 2: 18+1*, 3: 0+20");
}

TEST_CASE("images: a sequence that waits for one lets others go on") {
    SchedulerHarness harness(kWithCache);
    harness.encoder.missing = {1};
    harness.submit("a", Prompt().text(2).image(1, 9).text(3).tokens, 2);
    harness.submit("b", 4, 3);
    CHECK_EQ(harness.step(), "1: 0+2, 2: 0+4*");
    CHECK_EQ(harness.step(), "2: 4+1*");
    harness.encoder.missing = {};
    CHECK_EQ(harness.step(), "2: 5+1*, 1: 2+4");
}

TEST_CASE("images: a sequence that waits for one has no entry") {
    SchedulerHarness harness(kWithCache);
    harness.encoder.missing = {1};
    harness.submit("a", Prompt().image(1, 9).text(3).tokens, 2);
    CHECK_EQ(harness.step(), "");
    CHECK(harness.scheduler.cancel(1));
    CHECK_EQ(harness.step(), "");
}

TEST_CASE("images: a shared prefix ends at an image's edge") {
    SchedulerHarness harness(kWithCache);
    harness.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    for (int i = 0; i < 3; ++i) harness.step();
    // The same image, and then another one.
    harness.submit("a", Prompt().text(20).image(1, 15).text(3, 2).tokens, 1);
    harness.step();
    CHECK_EQ(harness.cached[2], 35);
    harness.submit("a", Prompt().text(20).image(2, 15).text(3, 2).tokens, 1);
    harness.step();
    CHECK_EQ(harness.cached[3], 20);
}

TEST_CASE("images: one that was computed in part before a cancel is not shared") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.batch_tokens = 8; }));
    harness.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    for (int i = 0; i < 4; ++i) harness.step(); // three of them for the text
    CHECK(harness.scheduler.cancel(1));
    harness.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    CHECK_EQ(harness.step(), "2: 20+8");
    CHECK_EQ(harness.cached[2], 20);
}

TEST_CASE("images: no request starts at a checkpoint inside one") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) {
        limits.batch_tokens = 8;
        limits.checkpoints = 8;
        limits.checkpoint_bytes = 1;
    }));
    const std::vector<Token> prompt = Prompt().text(20).image(1, 15).text(3, 1).tokens;
    harness.submit("a", prompt, 1, true, {20});
    for (int i = 0; i < 4; ++i) harness.step();
    CHECK(harness.scheduler.cancel(1));
    harness.submit("a", prompt, 1, true, {20});
    harness.step();
    CHECK_EQ(harness.cached[2], 20);
}

TEST_CASE("images: drafts end where an image followed before") {
    class FixedDrafts final : public sched::DraftSource {
    public:
        std::span<const Token> draft(base::RequestId, std::span<const Token>, int32_t) override {
            return tokens;
        }
        std::vector<Token> tokens{5, 6, base::image_token(1, true), base::image_token(1, false)};
    };
    sched::Scheduler scheduler(with(kWithCache, [](Limits& limits) { limits.reserve_ahead = 8; }));
    scheduler.submit({.id = 1, .client = "a", .prompt = {1, 2, 3}, .generate_max = 20, .uses_cache = true});
    scheduler.schedule({.prefill_busy = 4});
    scheduler.update({.outcomes = {{.kind = Outcome::Kind::advanced, .token = 4}}});
    FixedDrafts drafts;
    const sched::StepPlan& plan = scheduler.schedule({.prefill_busy = 4, .outputs = 8, .drafts = &drafts});
    CHECK_EQ(plan.batch[0].drafts.size(), 2);
}

TEST_CASE("images: a text that fills the context drops whole images") {
    SchedulerHarness harness(with(kWithCache, [](Limits& limits) { limits.can_shift = true; }));
    const std::vector<Token> prompt = Prompt().text(30).image(1, 40).text(20, 1).tokens;
    harness.submit("a", prompt, 200, true, {}, sched::ChatTurns{.keep = 4, .ends = {}});
    for (int i = 0; i < 40 && harness.shifts.empty(); ++i) harness.step();
    REQUIRE(harness.shifts.size() == 1);
    // Half of the 96 tokens after the kept part ends inside the image.
    CHECK_EQ(harness.shifts[0].cut.end(), 70);
}
