// A house of requests for the scheduler's tests by example: a scheduler, and an engine that computes everything.
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

/// Room for everything: a test makes scarce what it is about.
inline constexpr Limits kRoomy{.cells = 1000,
                               .context_length = 100,
                               .sequences = 4,
                               .donors = 0,
                               .batch_tokens = 8,
                               .checkpoints = 0,
                               .reserve_ahead = 2};

/// Room for what finished requests leave, and for a whole prompt in a turn.
inline constexpr Limits kWithDonors{.cells = 400,
                                    .context_length = 100,
                                    .sequences = 3,
                                    .donors = 3,
                                    .batch_tokens = 40,
                                    .checkpoints = 0,
                                    .reserve_ahead = 2};

/// Has every image but those that are named.
class Encoder final : public sched::ImageSource {
public:
    bool has(RequestId, base::ImageId image) override { return !missing.contains(image); }

    std::set<base::ImageId> missing;
};

/// A scheduler with an engine that computes everything; requests get the ids 1, 2, 3 and so on.
class House {
public:
    explicit House(const Limits& limits, int32_t budget_busy = 4)
        : scheduler(limits), budget_busy_(budget_busy) {}

    RequestId submit(const std::string& client, int32_t prompt_tokens, int32_t generate_max) {
        return submit(client, own_prompt(last_id_ + 1, prompt_tokens), generate_max);
    }

    RequestId submit(const std::string& client, std::vector<base::Token> prompt, int32_t generate_max,
                     bool uses_cache = true, std::vector<int32_t> boundaries = {},
                     std::optional<sched::Turns> turns = std::nullopt) {
        const RequestId id = ++last_id_;
        scheduler.submit({.id = id,
                          .client = client,
                          .prompt = std::move(prompt),
                          .generate_max = generate_max,
                          .uses_cache = uses_cache,
                          .boundaries = std::move(boundaries),
                          .turns = std::move(turns)});
        left_[id] = generate_max;
        return id;
    }

    /// One turn, in words. Every step advances, but for the given ones and for those that reach generate_max.
    std::string turn(const std::map<RequestId, Outcome::Kind>& outcomes = {}) {
        const sched::Plan& plan = scheduler.plan({.prompt_busy = budget_busy_, .images = &encoder});
        const std::string words = in_words(plan);
        released.clear();
        shifts = plan.shifts;
        moved.clear();
        for (const sched::CellOp& op : plan.cells) {
            if (op.kind == sched::CellOp::Kind::free) released.push_back(op.slot);
            if (op.kind == sched::CellOp::Kind::shift) moved.push_back(op);
            if (op.kind != sched::CellOp::Kind::stash) continue;
            const auto tokens = static_cast<uint64_t>(op.length - op.first);
            scheduler.stashed(op.stash, kTokenBytes * tokens, true);
        }
        for (const sched::Restore& restore : plan.restores) {
            scheduler.restored(restore, !are_copies_failing);
        }
        for (const sched::Start& start : plan.starts) cached[start.id] = start.cached;
        slots.clear();
        if (plan.steps.empty()) return words;
        std::vector<Outcome> all;
        for (const sched::Step& step : plan.steps) {
            slots[step.id] = step.slot;
            const auto given = outcomes.find(step.id);
            if (step.sample) left_[step.id] -= 1;
            using enum Outcome::Kind;
            const Outcome::Kind usual = left_[step.id] == 0 ? finished : advanced;
            // What is sampled tells the request, too.
            all.push_back({.kind = given == outcomes.end() ? usual : given->second,
                           .token = static_cast<base::Token>(step.id) * 1000 + 500 + left_[step.id]});
        }
        scheduler.apply(all);
        scheduler.check_integrity();
        return words;
    }

    /// Turns until nothing is left to do: the ids in the order in which they got their first step.
    std::vector<RequestId> order_of_start(int turns_max) {
        std::vector<RequestId> order;
        for (int i = 0; i < turns_max && !turn().empty(); ++i) {
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
    /// Nothing that is in host memory can be copied back.
    bool are_copies_failing = false;
    /// Of the last turn.
    std::vector<base::Slot> released;
    std::map<RequestId, base::Slot> slots;
    std::vector<sched::Shift> shifts;
    std::vector<sched::CellOp> moved;
    /// By request: tokens that were found computed when it started last.
    std::map<RequestId, int32_t> cached;

private:
    int32_t budget_busy_;
    RequestId last_id_ = 0;
    std::map<RequestId, int32_t> left_;
    std::set<RequestId> seen_;
};

inline constexpr Limits with(Limits limits, auto change) {
    change(limits);
    return limits;
}

} // namespace test
