// sched::Sequence: its states and its three intervals. The moves it refuses are in assertions_test.cpp.
#include "sched/sequence.h"

#include "check.h"
#include "prompts.h"

#include <optional>
#include <utility>
#include <vector>

using sched::Sequence;
using sched::State;

namespace {

constexpr int32_t kSequenceMax = 20;

Sequence of(int32_t prompt_tokens, int32_t generate_max = 4,
            std::optional<sched::ChatTurns> turns = std::nullopt) {
    return Sequence({.id = 1,
                     .client = "a",
                     .prompt = test::own_prompt(1, prompt_tokens),
                     .generate_max = generate_max,
                     .uses_cache = true,
                     .boundaries = {3, 9, 14},
                     .turns = std::move(turns)},
                    0, kSequenceMax);
}

/// Generates until the context is full.
void fill(Sequence& sequence) {
    sequence.admit(0, 0, kSequenceMax - 1);
    while (!sequence.is_full()) {
        sequence.advance(sequence.pending());
        sequence.append(500 + sequence.length());
    }
}

} // namespace

TEST_CASE("sequence: begins waiting, with its prompt known and nothing computed or reserved") {
    const Sequence sequence = of(5, 3);
    CHECK(sequence.state() == State::waiting);
    CHECK_EQ(sequence.slot(), base::kNoSlot);
    CHECK_EQ(sequence.length(), 5);
    CHECK_EQ(sequence.pending(), 5);
    CHECK_EQ(sequence.computed(), 0);
    CHECK_EQ(sequence.reserved(), 0);
    CHECK_EQ(sequence.length_max(), 8);
    CHECK(!sequence.is_decoding());
    CHECK(!sequence.was_preempted());
}

TEST_CASE("sequence: runs in the slot and with the cells that it was admitted with") {
    Sequence sequence = of(5);
    sequence.admit(2, 3, 7);
    CHECK_EQ(sequence.computed(), 3);
    CHECK(sequence.state() == State::running);
    CHECK_EQ(sequence.slot(), 2);
    CHECK_EQ(sequence.reserved(), 7);
    sequence.reserve(8);
    CHECK_EQ(sequence.reserved(), 8);
}

TEST_CASE("sequence: is computed chunk by chunk, and a sampled token makes it longer") {
    Sequence sequence = of(5);
    sequence.admit(0, 0, 6);
    sequence.advance(3);
    CHECK_EQ(sequence.computed(), 3);
    CHECK_EQ(sequence.pending(), 2);
    CHECK(!sequence.is_decoding());
    sequence.advance(2);
    sequence.append(42);
    CHECK_EQ(sequence.computed(), 5);
    CHECK_EQ(sequence.length(), 6);
    CHECK(sequence.is_decoding());
    sequence.advance(1);
    sequence.append(42);
    CHECK_EQ(sequence.length(), 7);
    CHECK(sequence.is_decoding());
}

TEST_CASE("sequence: a prompt of one token is not decoding before it is computed") {
    Sequence sequence = of(1);
    sequence.admit(0, 0, 2);
    CHECK_EQ(sequence.pending(), 1);
    CHECK(!sequence.is_decoding());
    sequence.advance(1);
    sequence.append(42);
    CHECK(sequence.is_decoding());
}

TEST_CASE("sequence: preemption takes slot and cells, but no tokens") {
    Sequence sequence = of(5);
    sequence.admit(0, 0, 6);
    sequence.advance(5);
    sequence.append(42);
    sequence.preempt();
    CHECK(sequence.state() == State::waiting);
    CHECK(sequence.was_preempted());
    CHECK_EQ(sequence.slot(), base::kNoSlot);
    CHECK_EQ(sequence.reserved(), 0);
    CHECK_EQ(sequence.computed(), 0);
    CHECK_EQ(sequence.length(), 6);
    CHECK_EQ(sequence.pending(), 6);
    sequence.admit(1, 0, 6);
    CHECK(sequence.state() == State::running);
}

TEST_CASE("sequence: ends from waiting and from running, and holds nothing afterwards") {
    Sequence waiting = of(5);
    waiting.end();
    CHECK(waiting.state() == State::ended);
    Sequence running = of(5);
    running.admit(0, 0, 6);
    running.end();
    CHECK(running.state() == State::ended);
    CHECK_EQ(running.slot(), base::kNoSlot);
    CHECK_EQ(running.reserved(), 0);
}

TEST_CASE("sequence: one with turns may fill the context, and is full then") {
    Sequence sequence = of(15, 40, sched::ChatTurns{.keep = 3});
    CHECK_EQ(sequence.length_max(), kSequenceMax);
    fill(sequence);
    CHECK_EQ(sequence.length(), kSequenceMax);
    CHECK_EQ(sequence.computed(), kSequenceMax - 1);
    CHECK_EQ(sequence.length_max(), kSequenceMax);
}

TEST_CASE(
    "sequence: a cut drops the oldest turns, and shortens what is computed and reserved by as many tokens") {
    Sequence sequence = of(15, 8, sched::ChatTurns{.keep = 3, .ends = {9, 13}});
    fill(sequence);
    const sched::Cut cut = sequence.next_cut();
    CHECK_EQ(cut.keep, 3);
    CHECK_EQ(cut.drop, 10); // to the end of the second message, a little more than half of 17
    sequence.drop(cut);
    CHECK(sequence.state() == State::running);
    CHECK_EQ(sequence.length(), 10);
    CHECK_EQ(sequence.computed(), 9);
    CHECK_EQ(sequence.reserved(), 9);
    CHECK(sequence.is_decoding());
    CHECK_EQ(sequence.tokens()[2], 1002);
    CHECK_EQ(sequence.tokens()[3], 1013);
    // Five of eight tokens are generated.
    CHECK_EQ(sequence.length_max(), 13);
    CHECK(sequence.request().boundaries == std::vector<int32_t>{3, 4});
    CHECK(sequence.request().turns->ends.empty());
}

TEST_CASE("sequence: without a message's end near its middle, a cut drops exactly half") {
    Sequence sequence = of(15, 40, sched::ChatTurns{.keep = 3, .ends = {5, 19}});
    fill(sequence);
    CHECK_EQ(sequence.next_cut().drop, 8);
    sequence.preempt();
    sequence.drop({.keep = 3, .drop = 8});
    CHECK_EQ(sequence.length(), 12);
    CHECK_EQ(sequence.computed(), 0);
    CHECK(sequence.request().turns->ends == std::vector<int32_t>{11});
}
