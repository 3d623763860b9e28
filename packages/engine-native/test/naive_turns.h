// Which sets of adapters have had to wait for scheduler_random_test.cpp: a step computes with one set, and no set may wait for more
// steps than other sets can have had.
#pragma once

#include "naive_sequence.h"
#include "sched/request.h"
#include "sched/step.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace test {

/// Whether a request may not be computed, because another one runs that is not in the background.
inline bool is_set_aside(const NaiveSequence& one,
                         const std::map<base::RequestId, NaiveSequence>& sequences) {
    return one.is_background() && std::ranges::any_of(sequences, [](const auto& entry) {
               return entry.second.is_running && !entry.second.is_background();
           });
}

/// The adapters that a step computes with; null if it computes nothing.
inline const std::string* adapters_of(const sched::StepPlan& plan,
                                      const std::map<base::RequestId, NaiveSequence>& sequences) {
    if (!plan.batch.empty()) return &sequences.at(plan.batch.front().id).adapters;
    for (const sched::KvOp& op : plan.kv_ops) {
        if (const auto* swap_in = std::get_if<sched::SwapIn>(&op)) return &sequences.at(swap_in->id).adapters;
    }
    return nullptr;
}

class NaiveTurns {
public:
    /// What is wrong with the plan of a step whose requests start where `sequences` say; nullptr if nothing is.
    const char* complaint(const sched::StepPlan& plan, const sched::Limits& limits,
                          const std::map<base::RequestId, NaiveSequence>& sequences,
                          const std::set<base::RequestId>& waiting_for_images) {
        const std::string* adapters = adapters_of(plan, sequences);
        for (const sched::Start& start : plan.starts) waited_.erase(start.id);
        std::map<base::RequestId, int32_t> waited;
        for (const auto& [id, sequence] : sequences) {
            if (is_set_aside(sequence, sequences)) {
                set_aside_ += sequence.is_running ? 1 : 0;
                continue;
            }
            const bool is_computable =
                sequence.is_running && !sequence.awaits_token() && !waiting_for_images.contains(id);
            if (!is_computable || adapters == nullptr || sequence.adapters == *adapters) continue;
            waited[id] = waited_[id] + 1;
            waits_ += 1;
            if (waited[id] > limits.sequences) return "adapters wait while others have their turn again";
        }
        waited_ = std::move(waited);
        return nullptr;
    }

    /// Requests that have waited for a step of other adapters, counted in each such step.
    uint64_t waits() const { return waits_; }

    /// Running requests that are set aside, counted in each step.
    uint64_t set_aside() const { return set_aside_; }

private:
    std::map<base::RequestId, int32_t> waited_;
    uint64_t waits_ = 0;
    uint64_t set_aside_ = 0;
};

} // namespace test
