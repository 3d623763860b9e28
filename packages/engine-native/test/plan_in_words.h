// A turn of the scheduler as a short text, so that tests compare and print whole plans.
#pragma once

#include "sched/request.h"

#include <string>

namespace test {

/// "1: 8+1*, 2: 0+4" means: one token of request 1 from position 8 on, then four of request 2; the first step
/// samples.
inline std::string in_words(const sched::Plan& plan) {
    std::string words;
    for (const sched::Step& step : plan.steps) {
        if (!words.empty()) words += ", ";
        words += std::to_string(step.id) + ": " + std::to_string(step.first) + "+" +
                 std::to_string(step.tokens.size());
        if (step.sample) words += "*";
    }
    return words;
}

} // namespace test
