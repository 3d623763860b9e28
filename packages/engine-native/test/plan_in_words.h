// A plan's batch as a short text, so that tests can compare and print it.
#pragma once

#include "sched/step.h"

#include <string>

namespace test {

/// "1: 8+1*, 2: 0+4" means one token of request 1 from position 8 on, then four of request 2; the first entry samples.
inline std::string in_words(const sched::StepPlan& plan) {
    std::string words;
    for (const sched::BatchEntry& entry : plan.batch) {
        if (!words.empty()) words += ", ";
        words += std::to_string(entry.id) + ": " + std::to_string(entry.first) + "+" +
                 std::to_string(entry.tokens.size());
        if (entry.samples) words += "*";
    }
    return words;
}

} // namespace test
