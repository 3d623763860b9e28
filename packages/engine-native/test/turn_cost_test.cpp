// engine::TurnCost: how long a turn of so many tokens takes here.
#include "engine/turn_cost.h"

#include <cmath>

#include <doctest/doctest.h>

using engine::TurnCost;

TEST_CASE("turn cost: knows nothing before the first turn") {
    const TurnCost cost;
    CHECK(!cost.is_known(1));
    CHECK(std::isinf(cost.ms(1)));
}

TEST_CASE("turn cost: says what it has seen, and draws a line between two") {
    TurnCost cost;
    cost.observe(1, 40);
    cost.observe(9, 120);
    CHECK_EQ(cost.ms(1), doctest::Approx(40));
    CHECK_EQ(cost.ms(5), doctest::Approx(80));
    CHECK_EQ(cost.ms(9), doctest::Approx(120));
    CHECK(!cost.is_known(5));
}

TEST_CASE("turn cost: hopes that more than it has seen costs little more") {
    TurnCost cost;
    cost.observe(1, 40);
    CHECK_EQ(cost.ms(2), doctest::Approx(50));
    CHECK_EQ(cost.ms(9), doctest::Approx(120));
    TurnCost crowded;
    crowded.observe(8, 160);
    CHECK_EQ(crowded.ms(10), doctest::Approx(170));
    CHECK_EQ(crowded.ms(1), doctest::Approx(160));
}

TEST_CASE("turn cost: one slow turn says little, a machine that stays slow is noticed") {
    TurnCost cost;
    for (int i = 0; i < 10; ++i) cost.observe(1, 40);
    cost.observe(1, 400);
    CHECK(cost.ms(1) < 100);
    for (int i = 0; i < 10; ++i) cost.observe(1, 40);
    CHECK(cost.ms(1) < 41);
    for (int i = 0; i < 30; ++i) cost.observe(1, 80);
    CHECK(cost.ms(1) > 75);
}

TEST_CASE("turn cost: what was not seen for long is forgotten") {
    TurnCost cost;
    cost.observe(4, 1000);
    for (int i = 0; i < 255; ++i) cost.observe(1, 40);
    CHECK(cost.is_known(4));
    cost.observe(1, 40);
    CHECK(!cost.is_known(4));
    CHECK_EQ(cost.ms(4), doctest::Approx(70));
    cost.observe(4, 90);
    CHECK_EQ(cost.ms(4), doctest::Approx(90));
}

TEST_CASE("turn cost: large turns and clocks that stand still teach nothing") {
    TurnCost cost;
    cost.observe(TurnCost::kTokensMax + 1, 40);
    cost.observe(0, 40);
    cost.observe(1, 0);
    CHECK(!cost.is_known(1));
    cost.observe(1, 40);
    CHECK(std::isinf(cost.ms(TurnCost::kTokensMax + 1)));
}
