// sched::ChatTurns: what goes of a chat that is too long, in numbers.
#include "sched/context_shift.h"

#include "check.h"

#include <vector>

using sched::ChatTurns;
using sched::Cut;

namespace {

/// A system message of 10 tokens and then messages of 10 each.
ChatTurns chat(int32_t messages) {
    ChatTurns turns{.keep = 10};
    for (int32_t i = 1; i <= messages; ++i) turns.ends.push_back(10 + 10 * i);
    return turns;
}

/// What is dropped for a context of 100 tokens, with 3 tokens after the last message; -1 if the prompt is refused.
int32_t dropped(const ChatTurns& turns, int32_t tokens_max = 0) {
    const auto cut = turns.cut_prompt(turns.ends.back() + 3, 100, tokens_max);
    return cut ? cut->drop : -1;
}

} // namespace

TEST_CASE("context shift: a prompt that fits is left as it is") {
    CHECK_EQ(chat(8).cut_prompt(99, 100, 0)->drop, 0);
    CHECK_EQ(ChatTurns{}.cut_prompt(99, 100, 0)->drop, 0);
}

TEST_CASE(
    "context shift: a prompt that does not fit drops whole messages until a quarter of the context is free") {
    // 103 tokens: 28 too many, hence twice 25.
    CHECK_EQ(dropped(chat(9)), 50);
    // Cut at the same place while the chat grows by up to 25 tokens.
    CHECK_EQ(dropped(chat(10)), 50);
    CHECK_EQ(dropped(chat(11)), 50);
    CHECK_EQ(dropped(chat(12)), 80);
}

TEST_CASE("context shift: a short reply needs less room") {
    CHECK_EQ(dropped(chat(9), 5), 30);
    CHECK_EQ(dropped(chat(9), 5000), 50);
}

TEST_CASE("context shift: the last message stays, with less room for the reply if necessary") {
    CHECK_EQ(dropped({.keep = 10, .ends = {20, 110}}), -1);
    CHECK_EQ(dropped({.keep = 10, .ends = {40, 110}}), 30);
    CHECK_EQ(dropped({.keep = 10, .ends = {200}}), -1);
    CHECK(!ChatTurns{.keep = 1}.cut_prompt(150, 100, 0));
}

TEST_CASE("context shift: a running text drops half, or up to a message's end not far beyond") {
    CHECK_EQ(ChatTurns{.keep = 20}.cut_running(100).drop, 40);
    CHECK_EQ(ChatTurns({.keep = 20, .ends = {50, 65, 90}}).cut_running(100).drop, 45);
    CHECK_EQ(ChatTurns({.keep = 20, .ends = {50, 81}}).cut_running(100).drop, 40);
    CHECK_EQ(ChatTurns({.keep = 0}).cut_running(2).drop, 1);
}

TEST_CASE("context shift: lengths after a cut move down, those inside are removed") {
    std::vector<int32_t> lengths{10, 11, 30, 31, 50};
    sched::apply_cut(lengths, {.keep = 10, .drop = 20});
    CHECK(lengths == std::vector<int32_t>{10, 11, 30});
}
