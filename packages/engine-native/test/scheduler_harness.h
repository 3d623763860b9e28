// Drives a scheduler in tests by example: submits requests, and plays an engine that computes everything.
#pragma once

#include "plan_in_words.h"
#include "prompts.h"
#include "sched/scheduler.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test {

using base::RequestId;
using sched::Limits;
using sched::Outcome;

/// Enough of everything: a test makes scarce what it is about.
inline constexpr Limits kRoomy{.cells = 1000,
                               .context_length = 100,
                               .sequences = 4,
                               .cached_sequences = 0,
                               .batch_tokens = 8,
                               .checkpoints = 0,
                               .reserve_ahead = 2};

/// With a prefix cache, and room for a whole prompt in a step.
inline constexpr Limits kWithCache{.cells = 400,
                                   .context_length = 100,
                                   .sequences = 3,
                                   .cached_sequences = 3,
                                   .batch_tokens = 40,
                                   .checkpoints = 0,
                                   .reserve_ahead = 2};

/// Has every image encoded except the missing ones.
class Encoder final : public sched::ImageSource {
public:
    bool prepare(RequestId, base::ImageId image) override { return !missing.contains(image); }

    std::set<base::ImageId> missing;
};

/// Requests get the ids 1, 2, 3 and so on.
class SchedulerHarness {
public:
    explicit SchedulerHarness(const Limits& limits, int32_t prefill_busy = 4)
        : scheduler(limits), prefill_busy_(prefill_busy) {}

    RequestId submit(const std::string& client, int32_t prompt_tokens, int32_t generate_max) {
        return submit(client, own_prompt(last_id_ + 1, prompt_tokens), generate_max);
    }

    RequestId submit(const std::string& client, std::vector<base::Token> prompt, int32_t generate_max,
                     bool uses_cache = true, std::vector<int32_t> boundaries = {},
                     std::optional<sched::ChatTurns> turns = std::nullopt) {
        return submit({.id = 0,
                       .client = client,
                       .prompt = std::move(prompt),
                       .generate_max = generate_max,
                       .uses_cache = uses_cache,
                       .boundaries = std::move(boundaries),
                       .turns = std::move(turns)});
    }

    RequestId submit(sched::Request request) {
        request.id = ++last_id_;
        left_[request.id] = request.generate_max;
        scheduler.submit(std::move(request));
        return last_id_;
    }

    /// One step, in words. Every entry advances, except the given ones and those that reach generate_max.
    std::string step(const std::map<RequestId, Outcome::Kind>& outcomes = {}) {
        const sched::StepPlan& plan = scheduler.schedule(
            {.prefill_busy = prefill_busy_, .copies_evicted = copies_evicted, .images = &encoder});
        const std::string words = in_words(plan);
        sched::StepResult result;
        freed.clear();
        shifts = plan.shifts;
        moved.clear();
        for (const sched::KvOp& op : plan.kv_ops) {
            if (const auto* free = std::get_if<sched::FreeSlot>(&op)) freed.push_back(free->slot);
            if (const auto* shift = std::get_if<sched::ShiftCells>(&op)) moved.push_back(*shift);
            if (const auto* out = std::get_if<sched::SwapOut>(&op)) {
                const auto tokens = static_cast<uint64_t>(out->length - out->first);
                result.swap_outs.push_back({.copied = sched::Copied::done, .bytes = kTokenBytes * tokens});
            }
            if (std::holds_alternative<sched::SwapIn>(op))
                result.swap_ins.push_back(are_swap_ins_failing ? sched::Copied::failed : sched::Copied::done);
        }
        for (const sched::Start& start : plan.starts) cached[start.id] = start.cached;
        slots.clear();
        for (const sched::BatchEntry& entry : plan.batch) {
            slots[entry.id] = entry.slot;
            const auto given = outcomes.find(entry.id);
            if (entry.samples) left_[entry.id] -= 1;
            using enum Outcome::Kind;
            const Outcome::Kind usual = left_[entry.id] == 0 ? finished : advanced;
            // The sampled token identifies the request, too.
            result.outcomes.push_back(
                {.kind = given == outcomes.end() ? usual : given->second,
                 .token = static_cast<base::Token>(entry.id) * 1000 + 500 + left_[entry.id]});
        }
        scheduler.update(result);
        scheduler.check_integrity();
        return words;
    }

    /// Steps until nothing is left to do: the ids in the order of their first batch entries.
    std::vector<RequestId> order_of_start(int steps_max) {
        std::vector<RequestId> order;
        for (int i = 0; i < steps_max && !step().empty(); ++i) {
            for (const auto& [id, slot] : slots) {
                if (seen_.insert(id).second) order.push_back(id);
            }
        }
        return order;
    }

    /// What a token's state takes in host memory.
    static constexpr uint64_t kTokenBytes = 10;

    sched::Scheduler scheduler;
    Encoder encoder;
    /// Nothing can be swapped in.
    bool are_swap_ins_failing = false;
    /// As in StepBudget.
    bool copies_evicted = true;
    /// Of the last step.
    std::vector<base::Slot> freed;
    std::map<RequestId, base::Slot> slots;
    std::vector<sched::ContextShift> shifts;
    std::vector<sched::ShiftCells> moved;
    /// By request: tokens that were in the prefix cache when it last started.
    std::map<RequestId, int32_t> cached;

private:
    int32_t prefill_busy_;
    RequestId last_id_ = 0;
    std::map<RequestId, int32_t> left_;
    std::set<RequestId> seen_;
};

inline constexpr Limits with(Limits limits, auto change) {
    change(limits);
    return limits;
}

} // namespace test
