// Decides what the engine computes next. Pure: no clock, no random numbers, no llama.cpp; the same calls give the
// same plans. One thread.
//
//     submit, cancel  ->  plan()  ->  (the engine computes it)  ->  apply()
//
// A turn is {sequence: number of tokens} under a token budget. Decoding sequences come first, one token each; what is
// left of the budget goes to the sequences that catch up with their prompts, oldest first, so that one long prompt
// never freezes the others.
//
// Cells are reserved at admission: a sequence starts only when its tokens and some room to grow fit. It grows by
// reserving more; when no cell is free, the youngest running sequence is preempted and waits at the head of the line.
// A request is therefore never failed because another one grew, and the oldest always runs.
#pragma once

#include "sched/request.h"
#include "sched/sequence.h"
#include "sched/waiting_line.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace sched {

class Scheduler {
public:
    explicit Scheduler(const Limits& limits);

    /// REQUIRES: a new id, and lengths within the limits (see Request).
    void submit(Request request);

    /// Ends a request in whatever state it is. False when there is no such request.
    bool cancel(base::RequestId id);

    /// The next turn. Empty steps mean that there is nothing to do.
    /// REQUIRES: apply() was called for the plan before.
    const Plan& plan();

    /// Reports the turn: one outcome for each step of the last plan, in order.
    void apply(const std::vector<Outcome>& outcomes);

    Counters counters() const;

    /// Ids of every request in the house, oldest first; for shutting down.
    std::vector<base::RequestId> ids() const;

    /// Asserts the invariants that hold between turns. For tests and idle moments.
    void check_integrity() const;

private:
    Sequence& find(base::RequestId id);
    void plan_decoding();
    void plan_catching_up();
    void admit_waiting();
    bool grow(Sequence& sequence);
    Sequence& youngest_running();
    void stop_running(Sequence& sequence);
    void end(Sequence& sequence);
    int32_t cells_free() const { return limits_.cells - cells_reserved_; }
    int32_t reservation(const Sequence& sequence) const;

    const Limits limits_;
    std::unordered_map<base::RequestId, std::unique_ptr<Sequence>> sequences_;
    /// Oldest first. Pointers into sequences_.
    std::vector<Sequence*> running_;
    WaitingLine waiting_;
    std::unordered_map<std::string, int32_t> requests_of_client_;
    std::vector<base::Slot> slots_free_;
    /// Slots whose cells the engine has yet to free; they are handed out again only after that plan.
    std::vector<base::Slot> slots_released_;
    int32_t cells_reserved_ = 0;
    uint64_t arrivals_ = 0;
    uint64_t preemptions_ = 0;
    Plan plan_;
    bool is_planned_ = false;
};

} // namespace sched
