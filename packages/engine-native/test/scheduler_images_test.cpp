// sched::Scheduler: prompts with images, by examples.
#include "check.h"
#include "house.h"

#include <string>
#include <vector>

using base::Token;
using sched::Limits;
using sched::Outcome;
using test::House;
using test::kWithDonors;
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

TEST_CASE("images: a step is text or of one image") {
    House house(kWithDonors);
    house.submit("a", Prompt().text(5).image(1, 9).image(1, 9).image(2, 4).text(3).tokens, 2);
    CHECK_EQ(house.turn(), "1: 0+5");
    CHECK_EQ(house.turn(), "1: 5+9");
    CHECK_EQ(house.turn(), "1: 14+9");
    CHECK_EQ(house.turn(), "1: 23+4");
    CHECK_EQ(house.turn(), "1: 27+3*");
    CHECK_EQ(house.turn(), "1: 30+1*");
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("images: beside a running reply an image is computed in parts, after the texts of the turn") {
    House house(kWithDonors);
    house.submit("a", 3, 20);
    CHECK_EQ(house.turn(), "1: 0+3*");
    house.submit("b", Prompt().image(1, 9).text(3).tokens, 2);
    house.submit("c", Prompt().text(2, 3).tokens, 2);
    CHECK_EQ(house.turn(), "1: 3+1*, 2: 0+4");
    CHECK_EQ(house.turn(), "1: 4+1*, 2: 4+4");
    CHECK_EQ(house.turn(), "1: 5+1*, 3: 0+2*, 2: 8+1");
}

TEST_CASE("images: one whose tokens see each other is computed whole, beyond the budget when it is first") {
    House house(with(kWithDonors, [](Limits& limits) { limits.has_whole_images = true; }));
    house.submit("a", 3, 20);
    CHECK_EQ(house.turn(), "1: 0+3*");
    house.submit("b", Prompt().text(6, 2).image(1, 9).text(3).tokens, 2);
    house.submit("c", Prompt().image(2, 20).text(1, 3).tokens, 2);
    CHECK_EQ(house.turn(), "1: 3+1*, 2: 0+4");
    CHECK_EQ(house.turn(), "1: 4+1*, 2: 4+2");
    CHECK_EQ(house.turn(), "1: 5+1*, 2: 6+9");
    CHECK_EQ(house.turn(), "1: 6+1*, 2: 15+3*");
    CHECK_EQ(house.turn(), "1: 7+1*, 2: 18+1*, 3: 0+20");
}

TEST_CASE("images: who waits for one lets others go on") {
    House house(kWithDonors);
    house.encoder.missing = {1};
    house.submit("a", Prompt().text(2).image(1, 9).text(3).tokens, 2);
    house.submit("b", 4, 3);
    CHECK_EQ(house.turn(), "1: 0+2, 2: 0+4*");
    CHECK_EQ(house.turn(), "2: 4+1*");
    house.encoder.missing = {};
    CHECK_EQ(house.turn(), "2: 5+1*, 1: 2+4");
}

TEST_CASE("images: nobody who waits for one alone has a step") {
    House house(kWithDonors);
    house.encoder.missing = {1};
    house.submit("a", Prompt().image(1, 9).text(3).tokens, 2);
    CHECK_EQ(house.turn(), "");
    CHECK(house.scheduler.cancel(1));
    CHECK_EQ(house.turn(), "");
}

TEST_CASE("images: a beginning that is shared ends at an image's edge") {
    House house(kWithDonors);
    house.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    for (int i = 0; i < 3; ++i) house.turn();
    // The same image, another one, and a text that ends inside of the image.
    house.submit("a", Prompt().text(20).image(1, 15).text(3, 2).tokens, 1);
    house.turn();
    CHECK_EQ(house.cached[2], 35);
    house.submit("a", Prompt().text(20).image(2, 15).text(3, 2).tokens, 1);
    house.turn();
    CHECK_EQ(house.cached[3], 20);
}

TEST_CASE("images: what was computed of one before a request was cancelled is not shared") {
    House house(with(kWithDonors, [](Limits& limits) { limits.batch_tokens = 8; }));
    house.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    for (int i = 0; i < 4; ++i) house.turn(); // three for the text
    CHECK(house.scheduler.cancel(1));
    house.submit("a", Prompt().text(20).image(1, 15).text(3, 1).tokens, 1);
    CHECK_EQ(house.turn(), "2: 20+8");
    CHECK_EQ(house.cached[2], 20);
}

TEST_CASE("images: a checkpoint inside of one is none to begin with") {
    House house(with(kWithDonors, [](Limits& limits) {
        limits.batch_tokens = 8;
        limits.checkpoints = 8;
        limits.checkpoint_bytes = 1;
    }));
    const std::vector<Token> prompt = Prompt().text(20).image(1, 15).text(3, 1).tokens;
    house.submit("a", prompt, 1, true, {20});
    for (int i = 0; i < 4; ++i) house.turn();
    CHECK(house.scheduler.cancel(1));
    house.submit("a", prompt, 1, true, {20});
    house.turn();
    CHECK_EQ(house.cached[2], 20);
}

TEST_CASE("images: a guess of text ends where an image came before") {
    class Guesses final : public sched::Drafter {
    public:
        std::span<const Token> draft(base::RequestId, std::span<const Token>, int32_t) override {
            return tokens;
        }
        std::vector<Token> tokens{5, 6, base::image_token(1, true), base::image_token(1, false)};
    };
    sched::Scheduler scheduler(with(kWithDonors, [](Limits& limits) { limits.reserve_ahead = 8; }));
    scheduler.submit({.id = 1, .client = "a", .prompt = {1, 2, 3}, .generate_max = 20, .uses_cache = true});
    scheduler.plan({.prompt_busy = 4});
    scheduler.apply({{.kind = Outcome::Kind::advanced, .token = 4}});
    Guesses guesses;
    const sched::Plan& plan = scheduler.plan({.prompt_busy = 4, .outputs = 8, .drafter = &guesses});
    CHECK_EQ(plan.steps[0].drafts.size(), 2);
}

TEST_CASE("images: a text that fills the context loses whole images") {
    House house(with(kWithDonors, [](Limits& limits) { limits.can_shift = true; }));
    const std::vector<Token> prompt = Prompt().text(30).image(1, 40).text(20, 1).tokens;
    house.submit("a", prompt, 200, true, {}, sched::Turns{.keep = 4, .ends = {}});
    for (int i = 0; i < 40 && house.shifts.empty(); ++i) house.turn();
    REQUIRE(house.shifts.size() == 1);
    // Half of the 96 that follow what is kept ends inside of the image.
    CHECK_EQ(house.shifts[0].cut.end(), 70);
}
