// sched::Turns: what goes of a chat that is too long, in numbers.
#include "sched/turns.h"

#include "check.h"

#include <vector>

using sched::Cut;
using sched::Turns;

namespace {

/// A system message of 10 tokens and then messages of 10 each.
Turns chat(int32_t messages) {
    Turns turns{.keep = 10};
    for (int32_t i = 1; i <= messages; ++i) turns.ends.push_back(10 + 10 * i);
    return turns;
}

/// Of a context of 100 tokens, with 3 tokens behind the last message; -1 when the prompt is refused.
int32_t dropped(const Turns& turns, int32_t tokens_max = 0) {
    const auto cut = turns.cut_prompt(turns.ends.back() + 3, 100, tokens_max);
    return cut ? cut->drop : -1;
}

} // namespace

TEST_CASE("turns: a prompt that fits is left as it is") {
    CHECK_EQ(chat(8).cut_prompt(99, 100, 0)->drop, 0);
    CHECK_EQ(Turns{}.cut_prompt(99, 100, 0)->drop, 0);
}

TEST_CASE("turns: of a prompt that does not fit whole messages go, in steps, until a quarter is free") {
    // 103 tokens: 28 too many, hence two steps of 25.
    CHECK_EQ(dropped(chat(9)), 50);
    // Cut at the same place while the chat grows by up to a step.
    CHECK_EQ(dropped(chat(10)), 50);
    CHECK_EQ(dropped(chat(11)), 50);
    CHECK_EQ(dropped(chat(12)), 80);
}

TEST_CASE("turns: less room is made for a reply that may only be short") {
    CHECK_EQ(dropped(chat(9), 5), 30);
    CHECK_EQ(dropped(chat(9), 5000), 50);
}

TEST_CASE("turns: the last message stays, with less room than wanted if need be") {
    CHECK_EQ(dropped({.keep = 10, .ends = {20, 110}}), -1);
    CHECK_EQ(dropped({.keep = 10, .ends = {40, 110}}), 30);
    CHECK_EQ(dropped({.keep = 10, .ends = {200}}), -1);
    CHECK(!Turns{.keep = 1}.cut_prompt(150, 100, 0));
}

TEST_CASE("turns: of a running text half goes, or up to a message's end not far beyond") {
    CHECK_EQ(Turns{.keep = 20}.cut_running(100).drop, 40);
    CHECK_EQ(Turns({.keep = 20, .ends = {50, 65, 90}}).cut_running(100).drop, 45);
    CHECK_EQ(Turns({.keep = 20, .ends = {50, 81}}).cut_running(100).drop, 40);
    CHECK_EQ(Turns({.keep = 0}).cut_running(2).drop, 1);
}

TEST_CASE("turns: lengths behind what goes move down, those within are gone") {
    std::vector<int32_t> lengths{10, 11, 30, 31, 50};
    sched::shorten(lengths, {.keep = 10, .drop = 20});
    CHECK(lengths == std::vector<int32_t>{10, 11, 30});
}
