// engine::StepCost: how long a step of so many tokens takes.
#include "engine/step_cost.h"

#include "check.h"

#include <cmath>

using engine::CopyCost;
using engine::StepCost;

TEST_CASE("step cost: knows nothing before the first step") {
    const StepCost cost;
    CHECK(!cost.is_known(1));
    CHECK(std::isinf(cost.ms(1)));
}

TEST_CASE("step cost: returns what it has seen, and interpolates in between") {
    StepCost cost;
    cost.observe(1, 40);
    cost.observe(9, 120);
    CHECK_NEAR(cost.ms(1), 40, 1e-9);
    CHECK_NEAR(cost.ms(5), 80, 1e-9);
    CHECK_NEAR(cost.ms(9), 120, 1e-9);
    CHECK(!cost.is_known(5));
}

TEST_CASE("step cost: estimates that more tokens than it has seen cost little more") {
    StepCost cost;
    cost.observe(1, 40);
    CHECK_NEAR(cost.ms(2), 50, 1e-9);
    CHECK_NEAR(cost.ms(9), 120, 1e-9);
    StepCost crowded;
    crowded.observe(8, 160);
    CHECK_NEAR(crowded.ms(10), 170, 1e-9);
    CHECK_NEAR(crowded.ms(1), 160, 1e-9);
}

TEST_CASE("step cost: one slow step counts little, a machine that stays slow is noticed") {
    StepCost cost;
    for (int i = 0; i < 10; ++i) cost.observe(1, 40);
    cost.observe(1, 400);
    CHECK(cost.ms(1) < 100);
    for (int i = 0; i < 10; ++i) cost.observe(1, 40);
    CHECK(cost.ms(1) < 41);
    for (int i = 0; i < 30; ++i) cost.observe(1, 80);
    CHECK(cost.ms(1) > 75);
}

TEST_CASE("step cost: old observations are forgotten") {
    StepCost cost;
    cost.observe(4, 1000);
    for (int i = 0; i < 255; ++i) cost.observe(1, 40);
    CHECK(cost.is_known(4));
    cost.observe(1, 40);
    CHECK(!cost.is_known(4));
    CHECK_NEAR(cost.ms(4), 70, 1e-9);
    cost.observe(4, 90);
    CHECK_NEAR(cost.ms(4), 90, 1e-9);
}

TEST_CASE("step cost: large steps and clocks that stand still change nothing") {
    StepCost cost;
    cost.observe(StepCost::kTokensMax + 1, 40);
    cost.observe(0, 40);
    cost.observe(1, 0);
    CHECK(!cost.is_known(1));
    cost.observe(1, 40);
    CHECK(std::isinf(cost.ms(StepCost::kTokensMax + 1)));
}

TEST_CASE("copy cost: copying pays until it is known to take longer, there and back, than computing") {
    CopyCost cost;
    CHECK(cost.pays(0));
    CHECK(cost.pays(5));
    for (int i = 0; i < 20; ++i) cost.observe(270, 30);
    CHECK(cost.pays(0)); // what computing takes is not known yet
    CHECK(cost.pays(5));
    CHECK(!cost.pays(0.2));
    for (int i = 0; i < 60; ++i) cost.observe(2000, 30);
    CHECK(cost.pays(0.2));
}
